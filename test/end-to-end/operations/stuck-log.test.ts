import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { startApp } from '../../../src/app.ts';
import { readConfig } from '../../../src/config.ts';
import { createLog } from '../../../src/lib/log.ts';
import { BufferedOutput } from '../../../src/lib/log-output.ts';
import { postQuery } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-ports.ts';
import { PROGRAM } from '../../support/program.ts';

/** Of fifty requests each. */
const ROUNDS = 20;

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** The program whose standard output is what the test makes of it. */
async function startWith(stdout: 'pipe' | number, onSpawn = (_child: ChildProcess) => {}) {
  const [port, adminPort] = [await freePort(), await freePort()];
  const child = spawn(process.execPath, [PROGRAM], {
    env: {
      ...process.env,
      ...{ NODE_ENV: 'production', GATEWAY_URL: 'http://127.0.0.1:1', ORDER_STORE: 'memory' },
      // The test asks as soon as the admin port answers.
      ...{ PORT: String(port), ADMIN_PORT: String(adminPort), RATE_LIMIT_PER_MINUTE: '100000' },
    },
    stdio: ['ignore', stdout, 'inherit'],
  });
  children.push(child);
  const exited = once(child, 'exit');
  onSpawn(child);
  const admin = `http://127.0.0.1:${adminPort}`;
  await eventually(async () => (await fetch(`${admin}/health/ready`)).ok);
  return {
    child,
    exited,
    /** As many requests as have the lines of several pipes. */
    async logMuch() {
      const url = `http://127.0.0.1:${port}/graphql`;
      const headers = { 'x-request-id': 'r'.repeat(128) };
      for (let round = 0; round < ROUNDS; round += 1) {
        const asked = Array.from({ length: 50 }, () =>
          postQuery(url, '{ __typename }', { headers }),
        );
        for (const { status } of await Promise.all(asked)) expect(status).toBe(200);
      }
    },
  };
}

describe('a log that nobody reads', () => {
  test('stops nothing; what is read later is whole and in order', async () => {
    const { child, exited, logMuch } = await startWith('pipe', ({ stdout }) => stdout?.pause());
    await logMuch();
    await logMuch();
    const read = text(child.stdout as Readable);
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    const lines = (await read).trimEnd().split('\n');
    const records = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(records.filter(({ msg }) => msg === 'request')).toHaveLength(2 * ROUNDS * 50);
    expect(records.at(-1)).toMatchObject({ msg: 'draining' });
    const times = records.map(({ time }) => String(time));
    expect(times.toSorted()).toEqual(times);
  });

  test('does not keep the process from ending', async () => {
    const { child, exited, logMuch } = await startWith('pipe', ({ stdout }) => stdout?.pause());
    await logMuch();
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  });
});

test('lines that are dropped are counted, and degrade nothing', async () => {
  let end = () => {};
  const output = new BufferedOutput({
    write: (bytes, done) => {
      end = () => done(null, bytes.length);
    },
    droppedLine: (count) => `${count} dropped\n`,
    maxBytes: 1_000,
  });
  const log = createLog({ level: 'info', format: 'json', destination: output });
  const config = readConfig({ PORT: '0', ADMIN_PORT: '0' });
  const app = await startApp(config, { log, logOutput: output });
  const read = async (path: string) => (await fetch(`${app.adminUrl}${path}`)).text();
  const metric = (value: number) =>
    expect.stringContaining(`\ntrading_graph_log_lines_dropped_total ${value}\n`);
  try {
    expect(await read('/metrics')).toEqual(metric(0));
    for (let at = 0; at < 10; at += 1) await postQuery(`${app.url}/graphql`, '{ __typename }', {});
    await eventually(async () => {
      expect(await read('/metrics')).toEqual(metric(output.droppedLines));
      expect(output.droppedLines).toBeGreaterThan(5);
    });
    end();
    expect(JSON.parse(await read('/health/ready'))).toMatchObject({ status: 'ok' });
  } finally {
    await app.close();
  }
});

test.each<[string, 'pipe' | number, (child: ChildProcess) => void]>([
  ['whose reader has left', 'pipe', ({ stdout }) => stdout?.destroy()],
  ['on a full disk', openSync('/dev/full', 'w'), () => {}],
])('a log %s stops neither the start nor the service', async (_, stdout, leave) => {
  const { child, exited, logMuch } = await startWith(stdout, leave);
  await logMuch();
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});

test('the reasons of a start that fails are written to the last line', async () => {
  const child = spawn(process.execPath, [PROGRAM], {
    env: { ...process.env, NODE_ENV: 'production', PORT: 'none', MAX_COST: 'none' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = (await text(child.stdout)).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ problem: expect.stringContaining('PORT') }),
    expect.objectContaining({ problem: expect.stringContaining('MAX_COST') }),
    expect.objectContaining({ problem: expect.stringContaining('GATEWAY_URL') }),
  ]);
});
