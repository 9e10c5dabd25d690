import { expect, test } from 'vitest';
import { Registry } from '../../../src/lib/metrics/registry.ts';

/** The lines of our own metrics, without those of the process. */
async function ownLines(registry: Registry): Promise<string[]> {
  const lines = (await registry.text()).split('\n');
  return lines.filter((line) => /^(# \w+ )?trading_graph_/.test(line));
}

test('a counter has each combination of its labels at 0 from the start', async () => {
  const registry = new Registry();
  const counter = registry.counter('calls_total', 'Calls.', { a: ['1', '2'], b: ['x', 'y'] });
  counter.add('2', 'x');
  counter.register('1', 'y').add(2.5);
  counter.add('3', 'x');
  expect(await ownLines(registry)).toEqual([
    '# HELP trading_graph_calls_total Calls.',
    '# TYPE trading_graph_calls_total counter',
    'trading_graph_calls_total{a="1",b="x"} 0',
    'trading_graph_calls_total{a="1",b="y"} 2.5',
    'trading_graph_calls_total{a="2",b="x"} 1',
    'trading_graph_calls_total{a="2",b="y"} 0',
  ]);
});

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

test('a gauge is read at each scrape, and has no series while there is nothing to measure', async () => {
  const registry = new Registry();
  let value: number | null = 3;
  registry.gauge('size', 'Size.', 'of').from(() => value, 'all');
  registry.gauge('unused', 'Without a source.');
  registry.tally('seen_total', 'Seen.').from(() => 7);
  expect((await ownLines(registry)).filter((line) => !line.startsWith('# HELP'))).toEqual([
    '# TYPE trading_graph_size gauge',
    'trading_graph_size{of="all"} 3',
    '# TYPE trading_graph_unused gauge',
    '# TYPE trading_graph_seen_total counter',
    'trading_graph_seen_total 7',
  ]);
  value = null;
  const again = await ownLines(registry);
  expect(again).not.toContain('trading_graph_size{of="all"} 3');
  expect(again).toContain('trading_graph_seen_total 7');
});

test('a label’s value cannot end its quotes or its line', async () => {
  const registry = new Registry();
  registry.counter('names_total', 'Names.', { name: ['a"b\\c\nd'] });
  expect((await ownLines(registry)).at(-1)).toBe(
    'trading_graph_names_total{name="a\\"b\\\\c\\nd"} 0',
  );
});
