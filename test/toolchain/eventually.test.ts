import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';

test('a failed wait names the last value and the last error of its condition', async () => {
  let calls = 0;
  const check = () => {
    calls += 1;
    if (calls === 1) throw new Error('connection refused');
    return { rows: ['AAPL'] };
  };
  const failed = eventually(check, { withinMs: 2_000, until: ({ rows }) => rows.length === 2 });
  await expect(failed).rejects.toThrow(
    /does not hold\nin \d+\.\d s and \d+ tries of: [^\n]+\nlast value: \{ rows: \[ 'AAPL' \] \}\nlast error: Error: connection refused$/,
  );
});

test('a wait ends with the process that it watches, after a last check', async () => {
  const child = spawn(process.execPath, ['-e', 'console.log("bye"); process.exit(3)']);
  let output = '';
  child.stdout.on('data', (text) => {
    output += text;
  });
  const ended = () => child.exitCode;
  const begunMs = performance.now();
  await expect(eventually(() => output === 'hello', { ended })).rejects.toThrow(
    /last value: false\nwhat it depends on has ended: 3$/,
  );
  expect(performance.now() - begunMs).toBeLessThan(40_000);
  if (!child.stdout.closed) await once(child.stdout, 'close');
  await expect(
    eventually(() => output, { until: (text) => text === 'bye\n', ended }),
  ).resolves.toBe('bye\n');
});

test('a wait ends with a signal, and keeps the assertion and its message', async () => {
  const ended = () => AbortSignal.abort('given up').reason;
  const failed = eventually(() => expect([1]).toHaveLength(2), { ended });
  await expect(failed).rejects.toMatchObject({
    name: 'AssertionError',
    message: expect.stringMatching(/length of 2[\s\S]*1 tries of[\s\S]*has ended: 'given up'$/),
  });
  // Its message is a getter, so nothing can be assigned to it.
  const timeOut = new DOMException('timed out', 'TimeoutError');
  await expect(eventually(() => Promise.reject(timeOut), { ended })).rejects.toThrow(
    /timed out\nin /,
  );
});

test('a wait whose check never settles fails at its own limit', async () => {
  await expect(eventually(() => new Promise(() => {}), { withinMs: 20 })).rejects.toThrow(
    /has not settled\nin 0\.\d s and 1 tries/,
  );
});
