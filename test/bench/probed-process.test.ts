import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ResidentWatch } from '../../bench/support/hostile/resident-watch.ts';
import { ProbedProcess } from '../../bench/support/probed-process.ts';
import { eventually } from '../support/eventually.ts';

const script = fileURLToPath(new URL('support/ends-when-told.ts', import.meta.url));
const started = () => new ProbedProcess({ script, core: 0 });

test('a question to a process that ends before it answers is rejected', async () => {
  await using process = started();
  expect(await process.ask({ ask: 'cpu' })).toBeGreaterThan(0);
  await expect(process.exchange({ end: true })).rejects.toThrow(
    'the process has ended: told to end',
  );
  await expect(process.ask({ ask: 'cpu' })).rejects.toThrow('the process has ended');
});

test('a process that takes too much memory is ended, another is left alone', async () => {
  await using process = started();
  await process.ask({ ask: 'cpu' });
  using usual = new ResidentWatch(process);
  using small = new ResidentWatch(process, 1_000_000);
  await eventually(() => process.hasEnded);
  expect([usual.isOver, small.isOver]).toEqual([false, true]);
  expect(small.peakBytes).toBeGreaterThan(1_000_000);
});

test('a server that does not come up is reported with its output', async () => {
  const wrong = { script: `${script}.gone`, core: 0 };
  await expect(ProbedProcess.listening(wrong)).rejects.toThrow('Cannot find module');
});
