import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ResidentWatch } from '../../bench/support/hostile/resident-watch.ts';
import { ProbedProcess } from '../../bench/support/probed-process.ts';
import { eventually } from '../support/eventually.ts';

const script = fileURLToPath(new URL('support/ends-when-told.ts', import.meta.url));
const started = () => new ProbedProcess({ script, core: 0 });

test('a process says what memory it has', async () => {
  await using process = started();
  expect(await process.ask({ ask: 'memory' })).toBeGreaterThan(1_000_000);
});

test('a question to a process that ends before it answers is rejected', async () => {
  await using process = started();
  await process.ask({ ask: 'memory' });
  await expect(process.exchange({ end: true })).rejects.toThrow(
    'the process has ended: told to end',
  );
  await expect(process.ask({ ask: 'memory' })).rejects.toThrow('the process has ended');
});

test('a process that takes too much memory is ended', async () => {
  await using process = started();
  await process.ask({ ask: 'memory' });
  using small = new ResidentWatch(process, 1_000_000);
  await eventually(() => process.hasEnded);
  expect(small.isOver).toBe(true);
  expect(small.peakBytes).toBeGreaterThan(1_000_000);
});

test('a process within its memory is left alone', async () => {
  await using process = started();
  await process.ask({ ask: 'memory' });
  using watch = new ResidentWatch(process);
  await process.ask({ ask: 'memory' });
  expect(watch.isOver).toBe(false);
  expect(process.hasEnded).toBe(false);
});
