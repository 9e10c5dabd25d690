import { expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/start.ts';
import { dispatch } from '../../src/cli/dispatch.ts';
import { sandboxCommand } from '../../src/cli/sandbox.ts';

const commands = { sandbox: { summary: '', load: () => Promise.resolve(sandboxCommand) } };

function rehearse(environment: Record<string, string> = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const stop = Promise.withResolvers<void>();
  return {
    out,
    err,
    stop: stop.resolve,
    run: (...args: string[]) =>
      dispatch(commands, ['sandbox', ...args], {
        environment,
        out: (line) => out.push(line),
        err: (line) => err.push(line),
        ask: () => Promise.resolve(null),
        stopped: () => stop.promise,
      }),
  };
}

test('the sandbox serves until it is asked to stop', async () => {
  const { run, out, stop } = rehearse({ SANDBOX_INSTRUMENTS: '20', SANDBOX_SEED: 'cli' });
  const ended = run('--port', '0');
  await expect.poll(() => out[0]).toMatch(/^The sandbox gateway listens on http:\/\/127\.0\.0\.1:/);
  const url = out[0]?.split(' ').at(-1) ?? '';
  const login = await fetch(`${url}/auth/login`, {
    method: 'POST',
    body: JSON.stringify({ email: 'demo@example.com', password: 'demo' }),
  });
  const { access_token: token } = (await login.json()) as { access_token: string };
  const catalog = await fetch(`${url}/trading/tickers/standard-usd`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(await catalog.json()).toHaveLength(20);
  stop();
  expect(await ended).toBe(0);
  await expect(fetch(url)).rejects.toThrow('fetch failed');
});

test('a port in use is one plain line, and exit code 1', async () => {
  await using other = await startSandbox({ tickMs: 0, instruments: 10 });
  const { run, err } = rehearse();
  expect(await run('--port', String(other.port))).toBe(1);
  expect(err).toEqual([`--port=${other.port}: it is in use on 127.0.0.1`]);
});

test('wrong variables are one line each, and nothing starts', async () => {
  const { run, err, out } = rehearse({ SANDBOX_INSTRUMENTS: 'many', SANDBOX_TICK_MS: '-1' });
  expect(await run('--port', '0')).toBe(1);
  expect(err).toHaveLength(2);
  expect(out).toEqual([]);
});

test.each([[['--port', '99999']], [['--port', 'x']], [['--colour', 'red']], [['extra']]])(
  '%j is a wrong command line: exit code 2',
  async (args) => {
    const { run, err } = rehearse();
    expect(await run(...args)).toBe(2);
    expect(err).toHaveLength(1);
  },
);
