import { expect, test } from 'vitest';
import { Registry } from '../../../src/lib/metrics/registry.ts';

/** The lines of our own metrics, without those of the process. */
async function ownLines(registry: Registry): Promise<string[]> {
  const lines = (await registry.text()).split('\n');
  return lines.filter((line) => /^(# \w+ )?trading_graph_/.test(line));
}

test('the buckets of a histogram are cumulative, and a value on a bound is in its bucket', async () => {
  const registry = new Registry();
  const histogram = registry.histogram('call_seconds', 'Duration.', [0.1, 1], { kind: ['k'] });
  const series = histogram.register('k');
  expect(await ownLines(registry)).toContain('trading_graph_call_seconds_count{kind="k"} 0');
  for (const value of [0.05, 0.1, 0.5, 7]) series.observe(value);
  expect((await ownLines(registry)).slice(2)).toEqual([
    'trading_graph_call_seconds_bucket{le="0.1",kind="k"} 2',
    'trading_graph_call_seconds_bucket{le="1",kind="k"} 3',
    'trading_graph_call_seconds_bucket{le="+Inf",kind="k"} 4',
    'trading_graph_call_seconds_sum{kind="k"} 7.65',
    'trading_graph_call_seconds_count{kind="k"} 4',
  ]);
});

test('a label’s value cannot end its quotes or its line', async () => {
  const registry = new Registry();
  registry.counter('names_total', 'Names.', { name: ['a"b\\c\nd'] });
  expect((await ownLines(registry)).at(-1)).toBe(
    'trading_graph_names_total{name="a\\"b\\\\c\\nd"} 0',
  );
});
