import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { compileCache } from '../support/compile-cache.ts';
import { failedStart } from '../support/failed-start.ts';
import { runCli } from '../support/run-cli.ts';

const main = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');

test('the service starts with its sandbox, and drains after a SIGTERM', async () => {
  const child = spawn(process.execPath, [main, 'start'], {
    env: {
      ...compileCache(),
      ...{ PATH: process.env.PATH, PORT: '0', ADMIN_PORT: '0', SANDBOX_INSTRUMENTS: '10' },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) {
    const address = /GraphiQL +(http:\S+)\/graphql/.exec(line)?.[1];
    if (address === undefined) continue;
    expect((await fetch(`${address}/health/ready`)).status).toBe(200);
    child.kill('SIGTERM');
  }
  expect(await ended).toEqual([0, null]);
});

test('a wrong configuration stops it, and so does an argument', async () => {
  const { code, problems } = await failedStart({ PORT: 'x' }, [main, 'start']);
  expect(code).toBe(1);
  expect(problems.join()).toContain('PORT="x": must be a whole number');
  const argued = await runCli(['start', '--port', '80']);
  expect(argued.code).toBe(2);
  expect(argued.err).toContain('start takes no arguments (--port 80)');
});
