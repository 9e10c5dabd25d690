import { expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/start.ts';
import { runCli } from '../support/run-cli.ts';

test('a port in use prints one plain line, with exit code 1', async () => {
  await using other = await startSandbox({ tickMs: 0, instruments: 10 });
  const { code, err } = await runCli(['sandbox', '--port', String(other.port)]);
  expect(code).toBe(1);
  expect(err).toBe(
    `--port=${other.port}: listen EADDRINUSE: address already in use 127.0.0.1:${other.port}\n`,
  );
});

test('wrong variables print one line each, and nothing starts', async () => {
  const wrong = { SANDBOX_INSTRUMENTS: 'many', SANDBOX_TICK_MS: '-1' };
  const { code, out, err } = await runCli(['sandbox', '--port', '0'], wrong);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err.trimEnd().split('\n')).toHaveLength(2);
});
