import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkDeployment, type Machine } from '../../../src/check/deployment.ts';
import { parseEnvironment } from '../../../src/config.ts';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { mayMount, mountSmallDisk } from '../../support/night/small-disk.ts';
import { startTestRedis } from '../../support/redis.ts';
import { answer, startScriptedGateway } from '../../support/scripted-gateway.ts';
import { check, checkOf, startGateway } from './run-check.ts';

const MB = 1_048_576;
const ROOT = join(import.meta.dirname, '..', '..', '..');

const AMPLE: Machine = {
  memoryBytes: Infinity,
  heapBytes: 4_096 * MB,
  openFiles: 1_048_576,
  freeBytes: () => Promise.resolve(50_000 * MB),
};
const judged = (machine: Partial<Machine>, variables = {}) =>
  checkDeployment(parseEnvironment(variables).config, { ...AMPLE, ...machine });

test('a machine with room for everything is fine', async () => {
  expect(await judged({})).toEqual({ problems: [], warnings: [] });
});

test('a heap that may outgrow its container is a problem, with the flag that mends it', async () => {
  const small = { memoryBytes: 512 * MB };
  const { problems } = await judged({ ...small, heapBytes: 480 * MB });
  expect(problems).toEqual([
    expect.stringMatching(
      /^Memory: the heap may grow to 480 MB and the container has 512 MB.*=416 or less$/,
    ),
  ]);
  expect(await judged({ ...small, heapBytes: 416 * MB })).toEqual({ problems: [], warnings: [] });
  const tiny = await judged({ memoryBytes: 200 * MB, heapBytes: 100 * MB });
  expect(tiny).toEqual({
    problems: [],
    warnings: ['Memory: the container has 200 MB: give it at least 256 MB'],
  });
});

test('few open files are told with the connections that they leave', async () => {
  const { problems } = await judged({ openFiles: 1_024 }, { GATEWAY_CONNECTIONS: '900' });
  expect(problems).toEqual([
    expect.stringMatching(/limit of 1024 \(ulimit -n\) .* 64 .* beside GATEWAY_CONNECTIONS=900$/),
  ]);
  const { warnings } = await judged({ openFiles: 1_024 }, { GATEWAY_CONNECTIONS: '100' });
  expect(warnings).toEqual([
    expect.stringMatching(
      /^Open files: the limit of 1024 \(ulimit -n\) leaves room for 668 of \d+ connections$/,
    ),
  ]);
});

test('a disk that has little room is told, of the folder that the service would make too', async () => {
  const asked: string[] = [];
  const of = (
    room: number,
    variables: Record<string, string> = { ORDER_STORE: '/a/b/orders.db' },
  ) =>
    judged(
      {
        freeBytes(path) {
          asked.push(path);
          return Promise.resolve(path === '/' ? room * MB : null);
        },
      },
      variables,
    );
  const full = 'Disk: ORDER_STORE="/a/b/orders.db" has 63 MB of room';
  expect((await of(63)).problems).toEqual([expect.stringContaining(full)]);
  expect(asked).toEqual(['/a/b', '/a', '/']);
  expect(await of(500)).toEqual({
    problems: [],
    warnings: [expect.stringContaining('has 500 MB of room')],
  });
  asked.length = 0;
  await of(1, { ORDER_STORE: 'memory' });
  await of(1, { REDIS_URL: 'redis://127.0.0.1:1' });
  expect(asked).toEqual([]);
});

describe.skipIf(!mayMount)(`a small disk${mayMount ? '' : ' (needs root)'}`, () => {
  test('is a problem of the check', async () => {
    await using disk = await mountSmallDisk();
    const { code, text } = await check({ ORDER_STORE: join(disk.folder, 'orders.db') });
    expect(code).toBe(1);
    expect(text).toContain('Deployment     1 problem\n  - Disk: ORDER_STORE=');
    expect(text).toMatch(/\n1 problem\.$/);
  });
});

test('the limits of the process itself are read, and are a warning that --strict fails for', () => {
  const run = (files: number, ...command: string[]) =>
    spawnSync('sh', ['-c', `ulimit -n ${files}; exec "$@"`, 'sh', process.execPath, ...command], {
      cwd: ROOT,
      env: { ...process.env, ORDER_STORE: 'memory', PORT: '0', ADMIN_PORT: '0' },
      encoding: 'utf8',
      timeout: 60_000,
    });
  const check = ['src/cli/main.ts', 'check'];
  const { status, stdout } = run(512, ...check);
  expect(stdout).toContain('Open files: the limit of 512 (ulimit -n)');
  expect(stdout).toMatch(/\nNo problem, 1 warning\.\n$/);
  expect([status, run(512, ...check, '--strict').status]).toEqual([0, 1]);
  // Nobody is served by less, and nothing but another environment helps.
  const start = run(400, 'src/main.ts');
  expect(start.status).toBe(78);
  expect(start.stderr).toContain('no room for 64 connections beside GATEWAY_CONNECTIONS=128');
});

describeWithRedis('a Redis that may drop records', (path) => {
  test('is warned of, and nothing is written there', async () => {
    const args = [
      '--appendonly',
      'yes',
      '--maxmemory',
      '50mb',
      '--maxmemory-policy',
      'allkeys-lru',
    ];
    await using redis = await startTestRedis(path, { args });
    const { code, text } = await check({ REDIS_URL: redis.url });
    expect(code).toBe(0);
    expect(text).toContain('warning: Redis has maxmemory-policy allkeys-lru: it may drop order');
    expect((await check({ REDIS_URL: redis.url }, ['--strict'])).code).toBe(1);
    // A replica that joined and is gone would be missed when Redis loses its data.
    expect(await redis.command('DBSIZE')).toBe(0);
  });
});

test.each([
  ['ahead of', 90_000],
  ['behind', -90_000],
])('a clock that is %s the gateway’s is warned of once', async (side, aheadMs) => {
  await using gateway = await startGateway();
  const headers = { date: new Date(Date.now() + aheadMs).toUTCString() };
  for (const operation of ['getWithdrawalMethods', 'getCustomerId'] as const) {
    const body = operation === 'getCustomerId' ? { customerId: 'x' } : { methods: [] };
    gateway.fail({ operation, kind: 'status', status: 200, body, headers });
  }
  const { text } = await checkOf(gateway);
  const told = text.match(/The gateway's clock is \d+ s (ahead of|behind) this machine's/g);
  expect(told).toEqual([expect.stringMatching(new RegExp(`is \\d+ s ${side} this`))]);
});

test('a gateway that does not answer for now has an exit code of its own', async () => {
  const gateway = await startSandbox({ tickMs: 0, instruments: 20 });
  gateway.fail({ operation: 'getCustomerId', kind: 'status', status: 503 });
  expect((await checkOf(gateway)).code).toBe(75);
  expect((await checkOf(gateway, { MAX_COST: 'x' })).code).toBe(1);
  await gateway.close();
  expect((await checkOf(gateway)).code).toBe(75);
  await using wrong = await startScriptedGateway((socket) => socket.end(answer(404, '{}')));
  expect((await checkOf(wrong)).code).toBe(1);
});
