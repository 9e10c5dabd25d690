import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Metrics } from '../../src/app/metrics.ts';
import { TRADING_LIMITS } from '../../src/domain/auth/limits.ts';
import { ENGINE_LIMITS, FIXED_LIMITS } from '../../src/engine/index.ts';

const LIMITS = [...Object.values(ENGINE_LIMITS), ...Object.values(TRADING_LIMITS)];
const documented = readFileSync(join(import.meta.dirname, '../../docs/limits.md'), 'utf8');

test('every limit has a row in the documentation, and its own series from the start', async () => {
  expect(LIMITS.filter(({ what }) => !documented.includes(`\n| ${what}`))).toEqual([]);
  expect(FIXED_LIMITS.filter((label) => !documented.includes(`\`${label}\``))).toEqual([]);
  const { registry, graph } = new Metrics();
  const labels = [...LIMITS.map(({ label }) => label), ...FIXED_LIMITS];
  for (const label of labels) graph.refusal(label);
  // A limit that is not in the list counts as `other`.
  graph.refusal('a field’s own');
  const { values = [] } =
    (await registry.getSingleMetric('trading_graph_refusals_total')?.get()) ?? {};
  const counted = Object.fromEntries(values.map(({ labels, value }) => [labels.limit, value]));
  // Some limits share a label.
  const countOf = (label: string) => labels.filter((each) => each === label).length;
  const expected = Object.fromEntries(labels.map((label) => [label, countOf(label)]));
  expect(counted).toEqual({ ...expected, ORDER_RECORDS_PER_ACCOUNT: 0, other: 1 });
});
