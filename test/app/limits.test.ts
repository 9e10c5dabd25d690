import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Metrics } from '../../src/app/metrics.ts';
import { TRADING_LIMITS } from '../../src/domain/auth/trading-limits.ts';
import { ENGINE_LIMITS, FIXED_LIMITS } from '../../src/engine/index.ts';

const LIMITS = [...Object.values(ENGINE_LIMITS), ...Object.values(TRADING_LIMITS)];
const documented = readFileSync(join(import.meta.dirname, '../../docs/limits.md'), 'utf8');

test('every limit is documented, and its refusals are counted under its label', async () => {
  expect(LIMITS.filter(({ what }) => !documented.includes(`\n| ${what}`))).toEqual([]);
  expect(FIXED_LIMITS.filter((label) => !documented.includes(`\`${label}\``))).toEqual([]);
  const { registry, graph } = new Metrics();
  // Some limits share a label.
  const labels = [...LIMITS.map(({ label }) => label), ...FIXED_LIMITS];
  for (const label of labels) graph.refusal(label);
  graph.refusal('a label of no limit');
  const { values = [] } =
    (await registry.getSingleMetric('trading_graph_refusals_total')?.get()) ?? {};
  const counted = Object.fromEntries(values.map(({ labels: { limit }, value }) => [limit, value]));
  const timesIn = (label: string) => labels.filter((each) => each === label).length;
  const expected = Object.fromEntries(labels.map((label) => [label, timesIn(label)]));
  // The maximum of order records is a limit of the store. Its series exists before its first refusal.
  expect(counted).toEqual({ ...expected, ORDER_RECORDS_PER_ACCOUNT: 0, other: 1 });
});
