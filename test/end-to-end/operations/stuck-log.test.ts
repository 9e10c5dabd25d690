import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { startApp } from '../../../src/app.ts';
import { readConfig } from '../../../src/config.ts';
import { createLog } from '../../../src/lib/log.ts';
import { LogOutput } from '../../../src/lib/log-output.ts';
import { postQuery } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-ports.ts';
import { PROGRAM } from '../../support/program.ts';

const ROUNDS = 8;
const REQUESTS_PER_ROUND = 50;

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** Starts the service as a process whose standard output the test controls. */
async function startWith(stdout: 'pipe' | number, onSpawn = (_child: ChildProcess) => {}) {
  const [port, adminPort] = [await freePort(), await freePort()];
  const child = spawn(process.execPath, [PROGRAM], {
    env: {
      ...process.env,
      NODE_ENV: 'production',
      GATEWAY_URL: 'http://127.0.0.1:1',
      ORDER_STORE: 'memory',
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      RATE_LIMIT_PER_MINUTE: '100000',
    },
    stdio: ['ignore', stdout, 'inherit'],
  });
  children.push(child);
  const exited = once(child, 'exit');
  onSpawn(child);
  await eventually(async () => {
    expect((await fetch(`http://127.0.0.1:${adminPort}/health/ready`)).status).toBe(200);
  });
  return {
    child,
    exited,
    /** Sends requests whose log lines exceed the buffer of a pipe several times. */
    async logMuch() {
      const url = `http://127.0.0.1:${port}/graphql`;
      const headers = { 'x-request-id': 'r'.repeat(128) };
      for (let round = 0; round < ROUNDS; round += 1) {
        const answers = Array.from({ length: REQUESTS_PER_ROUND }, () =>
          postQuery(url, '{ __typename }', { headers }),
        );
        for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
      }
    },
  };
}

test('log lines that are read late are whole and in order', async () => {
  const { child, exited, logMuch } = await startWith('pipe', ({ stdout }) => stdout?.pause());
  await logMuch();
  let text = '';
  child.stdout?.on('data', (piece) => {
    text += piece;
  });
  child.stdout?.resume();
  const requests = () => text.match(/"msg":"request"/g) ?? [];
  await eventually(() => expect(requests()).toHaveLength(ROUNDS * REQUESTS_PER_ROUND));
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  const lines = text.trimEnd().split('\n');
  const records = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(records.at(-1)).toMatchObject({ msg: 'draining' });
  const times = records.map(({ time }) => String(time));
  expect(times.toSorted()).toEqual(times);
});

test('dropped log lines are counted, and do not degrade readiness', async () => {
  // Each write to this device fails.
  const fd = openSync('/dev/full', 'w');
  const output = new LogOutput(fd, 1_000);
  const log = createLog({ level: 'info', destination: output });
  const config = readConfig({ PORT: '0', ADMIN_PORT: '0' });
  const app = await startApp(config, { log, logOutput: output });
  onTestFinished(() => app.close());
  const read = async (path: string) => (await fetch(`${app.adminUrl}${path}`)).text();
  for (let sent = 0; sent < 10; sent += 1)
    await postQuery(`${app.url}/graphql`, '{ __typename }', {});
  await eventually(async () => {
    expect(output.droppedLines).toBeGreaterThan(5);
    expect(await read('/metrics')).toContain(
      `\ntrading_graph_log_lines_dropped_total ${output.droppedLines}\n`,
    );
  });
  expect(JSON.parse(await read('/health/ready'))).toMatchObject({ status: 'ok' });
});

test.each<[string, 'pipe' | number, (child: ChildProcess) => void]>([
  ['without a reader', 'pipe', ({ stdout }) => stdout?.pause()],
  ['whose reader has left', 'pipe', ({ stdout }) => stdout?.destroy()],
  ['on a full disk', openSync('/dev/full', 'w'), () => {}],
])(
  'a log %s blocks neither the start nor the service nor the shutdown',
  async (_, stdout, leave) => {
    const { child, exited, logMuch } = await startWith(stdout, leave);
    await logMuch();
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  },
);
