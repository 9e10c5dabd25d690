import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../check/commands.ts';
import { systemClock } from '../../lib/clock.ts';
import { createHeaderForwarding } from '../../lib/forwarded-headers.ts';
import { findUnusable } from '../../src/app/resources.ts';
import { dispatch } from '../../src/cli/dispatch.ts';
import { type Environment, readConfig } from '../../src/config.ts';
import { accountOf } from '../../src/domain/auth/viewer.ts';
import type { OrderRecords } from '../../src/store/order-records.ts';
import type { TrailEntry } from '../../src/store/order-trail.ts';
import { openSqliteOrderRecords } from '../../src/store/sqlite/order-records.ts';
import { accepted, request, reserved } from '../store/order-records-contract.ts';
import { openReplica } from '../store/redis/replica.ts';
import { LONG_OVER_MS } from '../store/settlement-contract.ts';
import { voidRequest } from '../store/void-contract.ts';
import { accountNamed, loginNamed } from '../support/accounts.ts';
import { describeWithRedis } from '../support/describe-with.ts';
import { eventually } from '../support/eventually.ts';
import { REDIS_PASSWORD, startTestRedis, type TestRedis } from '../support/redis.ts';

async function rehearse(given: Environment = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'trading-graph-orders-cli-'));
  const path = join(folder, 'orders.db');
  const environment: Record<string, string | undefined> = { ORDER_STORE: path, ...given };
  const out: string[] = [];
  const err: string[] = [];
  const open = (maxPerAccount = 100, onWarn = (_: string) => {}) =>
    openSqliteOrderRecords({ path, max: 100, maxPerAccount, clock: systemClock, onWarn });
  const records = await open();
  const reservation = await reserved(records, '1', 'key');
  await records.close();
  return {
    folder,
    path,
    environment,
    out,
    err,
    open,
    reservation,
    run: (...args: string[]) =>
      dispatch(COMMANDS, ['orders', ...args], {
        environment,
        out: (line) => out.push(line),
        err: (line) => err.push(line),
        ask: () => Promise.resolve(null),
        stopped: () => Promise.resolve(),
      }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

test('a file that its operator has marked incomplete refuses orders, and takes them again', async () => {
  using stage = await rehearse();
  expect(await stage.run('status')).toBe(0);
  expect(stage.out).toEqual([`${stage.path}: 1 order records; orders are taken`]);
  expect(await stage.run('incomplete')).toBe(0);
  expect(stage.out.at(-1)).toContain('may be incomplete');
  const refusing = await stage.open();
  await expect(refusing.reserve(request('1', 'new'))).rejects.toThrow('may be incomplete');
  // A running process notices it too.
  expect(await stage.run('complete')).toBe(0);
  expect(await refusing.reserve(request('1', 'new'))).toMatchObject({ reserved: true });
  await refusing.close();
  expect(await stage.run('status', '--file', stage.path)).toBe(0);
  expect(stage.out.at(-1)).toBe(`${stage.path}: 2 order records; orders are taken`);
  expect(stage.err).toEqual([]);
});

test('a file is moved while the service runs, which takes orders again from its new place', async () => {
  using stage = await rehearse();
  const records = await stage.open();
  const to = join(stage.folder, 'moved.db');
  const settled = await reserved(records, '1', 'settled');
  await records.settle(settled, accepted);
  await records.settle(stage.reservation, accepted);
  expect(await stage.run('move', to)).toBe(0);
  expect(stage.out).toEqual([`${to}: 2 order records; restart the service with it as ORDER_STORE`]);
  await expect(records.reserve(request('1', 'new'))).rejects.toThrow(`was moved to ${to}`);
  await records.close();
  expect(await stage.run('status')).toBe(1);
  expect(stage.err).toEqual([expect.stringContaining(`The file ${stage.path} was moved to ${to}`)]);
  expect(await stage.run('status', '--file', to)).toBe(0);
  expect(stage.out.at(-1)).toBe(`${to}: 2 order records; orders are taken`);
});

/** Fills an account's share of two orders, frees it by the program, and fills it again. */
async function frees(records: OrderRecords, run: (...args: string[]) => Promise<number>) {
  const kept = await reserved(records, '2', 'a');
  await records.settle(kept, accepted);
  await reserved(records, '2', 'b');
  await records.voidKey(voidRequest('2', 'void'));
  const full = 'of this account are in use';
  await expect(records.reserve(request('2', 'c'))).rejects.toThrow(full);
  await expect(records.voidKey(voidRequest('2', 'another'))).rejects.toThrow(full);
  expect(await run('free', '2')).toBe(0);
  // The keys stay used up, and what comes from now on counts.
  expect(await records.reserve(request('2', 'a'))).toMatchObject({ record: { id: kept.id } });
  expect(await records.reserve(request('2', 'void'))).toMatchObject({ reserved: false });
  await reserved(records, '2', 'c');
  await records.voidKey(voidRequest('2', 'another'));
  await expect(records.voidKey(voidRequest('2', 'third'))).rejects.toThrow(full);
}

test('an account is freed while the service runs, and its keys stay used up', async () => {
  using stage = await rehearse();
  const records = await stage.open(2);
  await frees(records, stage.run);
  // One that is pending goes on counting.
  expect(stage.out).toEqual(['2 order records count for the account no more']);
  await expect(records.reserve(request('2', 'd'))).rejects.toThrow('of this account');
  expect(await stage.run('free', '2')).toBe(0);
  expect(stage.out.at(-1)).toBe('1 order records count for the account no more');
  expect(await stage.run('status')).toBe(0);
  expect(stage.out.at(-1)).toContain('6 order records; orders are taken');
  await records.close();
  const restarted = await stage.open();
  expect(await restarted.find(accountNamed('2'), 'a')).toMatchObject({ outcome: accepted });
  await restarted.close();
});

/** Holds orders back at each of the replicas and lets them go, by the program. */
async function holds(replicas: readonly OrderRecords[], run: (word: string) => Promise<number>) {
  const reasons = () => replicas.map((each) => each.holdReason());
  expect(reasons()).toEqual(replicas.map(() => null));
  for (const word of ['hold', 'release', 'release', 'hold', 'hold']) {
    expect(await run(word)).toBe(0);
    const isHeld = word === 'hold';
    await eventually(() => reasons().every((reason) => (reason !== null) === isHeld));
  }
}

test('orders are held back and let go on every process of a file, and it outlives them', async () => {
  using stage = await rehearse();
  const replicas = [await stage.open(), await stage.open()];
  await holds(replicas, stage.run);
  expect(await stage.run('status')).toBe(0);
  expect(stage.out.at(-1)).toContain('orders are held back by an operator');
  expect(await stage.run('status', '--json')).toBe(0);
  const refused = expect.stringContaining('held back by an operator');
  const told = { place: stage.path, records: 1, refused, gap: null };
  expect(JSON.parse(stage.out.at(-1) ?? '')).toEqual(told);
  // While records may be missing as well, no key is taken.
  expect(await stage.run('incomplete')).toBe(0);
  expect(stage.out.at(-1)).toContain('orders are held back by an operator');
  for (const each of replicas) await each.close();
  const next = await stage.open();
  expect(next.holdReason()).toContain('orders release');
  await next.close();
  const none = join(stage.folder, 'none.db');
  expect(await stage.run('hold', '--file', none)).toBe(1);
  expect(stage.err).toEqual([`The file ${none} does not exist.`]);
});

test('a copy is made while the service runs, and none of a Redis', async () => {
  using stage = await rehearse();
  const records = await stage.open();
  const copy = join(stage.folder, 'copy.db');
  expect(await stage.run('copy', copy)).toBe(0);
  expect(stage.out).toEqual([`${copy}: 1 order records`]);
  await reserved(records, '1', 'later');
  await records.close();
  expect(await stage.run('copy', copy)).toBe(1);
  expect(stage.err).toEqual([`The file ${stage.path} is not copied: ${copy} exists already.`]);
  using elsewhere = await rehearse({ REDIS_URL: 'redis://127.0.0.1:1' });
  for (const word of ['copy', 'move']) expect(await elsewhere.run(word, copy)).toBe(2);
  // Looked at, by the command or by a check, it is a copy still.
  expect(await stage.run('status', '--file', copy)).toBe(0);
  await findUnusable(readConfig({ ORDER_STORE: copy, PORT: '0', ADMIN_PORT: '0' }), new Set(), {
    onWarn() {},
    onOpen() {},
  });
  renameSync(copy, stage.path);
  const warnings: string[] = [];
  const restored = await stage.open(100, (message) => warnings.push(message));
  expect(warnings).toEqual([expect.stringContaining('is a copy, or was moved')]);
  await restored.close();
});

test('an account of a tenant is freed by the headers of its requests, and no other of that login', async () => {
  using stage = await rehearse({ GATEWAY_FORWARD_HEADERS: 'x-brand, x-tenant' });
  const forwarding = createHeaderForwarding(['x-brand', 'x-tenant']);
  const account = accountOf(loginNamed('2'), forwarding.of({ 'x-tenant': 'a=b' }));
  const records = await stage.open();
  for (const each of [account, '2']) {
    await records.settle(await reserved(records, each, 'key'), accepted);
  }
  await records.close();
  expect(await stage.run('free', '2', '--header', 'x-tenant=other')).toBe(0);
  expect(stage.out.at(-1)).toContain('0 order records');
  expect(await stage.run('free', '2', '--header', 'X-Tenant=a=b')).toBe(0);
  expect(stage.out.at(-1)).toContain('1 order records');
  for (const mistyped of ['x-tenant', 'x-tenants=a=b']) {
    expect(await stage.run('free', '2', '--header', mistyped)).toBe(2);
  }
  expect(await stage.run('free', '2')).toBe(0);
  expect(stage.out.at(-1)).toContain('1 order records');
});

test('an order of a tenant is settled by its headers alone, and nothing that a client wrote reaches the terminal', async () => {
  using stage = await rehearse({ GATEWAY_FORWARD_HEADERS: 'x-tenant' });
  const forwarding = createHeaderForwarding(['x-tenant']);
  const account = accountOf(loginNamed('2'), forwarding.of({ 'x-tenant': 'acme' }));
  const records = await stage.open();
  const key = '\u001b[2J\u009b1m';
  for (const each of [account, '2']) await reserved(records, each, key, LONG_OVER_MS);
  await records.close();
  const settle = (tenant: string, by = 'jane') => {
    const of = ['--header', `x-tenant=${tenant}`, '--by', by, '--why', 'ticket'];
    return stage.run('settle', '2', key, 'not-sent', ...of);
  };
  const trail = async () => {
    expect(await stage.run('show', '2', key, '--header', 'x-tenant=acme', '--json')).toBe(0);
    const shown = JSON.parse(stage.out.pop() ?? '');
    return shown.trail.map(({ event, by }: TrailEntry) => `${event} ${by}`);
  };
  expect(await settle('other')).toBe(1);
  expect(stage.err.at(-1)).toContain('has no such order');
  expect(await settle('acme')).toBe(0);
  expect(stage.out.at(-1)).toMatch(/^Settled\. .*by="jane"/);
  expect(await trail()).toEqual(['settled jane']);
  // The same word of another says whose it was, and is noted nowhere, unless the first one's entry was lost.
  for (const isLost of [false, true]) {
    const [file = ''] = readdirSync(stage.folder).filter((name) => name.includes('.trail-'));
    if (isLost) rmSync(join(stage.folder, file));
    expect(await settle('acme', 'joe')).toBe(0);
    expect(stage.out.at(-1)).toMatch(/^Settled before: .*by="jane"/);
    expect(await trail()).toEqual(['settled jane']);
  }
  expect(await stage.run('show', '2', key, '--header', 'x-tenant=acme')).toBe(0);
  expect(stage.out.join('\n')).toMatch(/SETTLED.*by="jane"[\s\S]*settled {2}outcome="rejected"/);
  // The one of that login without a tenant is untouched.
  expect(await stage.run('list', '--unknown')).toBe(0);
  expect(stage.out.at(-1)).toMatch(
    /login="2" key="\\u001b\[2J\\u009b1m": unknown, as it was cut off$/,
  );
  for (const each of ['\u001b', '\u009b']) expect(stage.out.join()).not.toContain(each);
  expect(await stage.run('list', '--json')).toBe(0);
  expect(stage.out.slice(-3).map((line) => JSON.parse(line).login)).toEqual(['1', '2', '2']);
});

test('an order is not settled by a number that another order of the account has, unless the gateway nets', async () => {
  using stage = await rehearse();
  const records = await stage.open();
  await records.settle(await reserved(records, '2', 'first'), {
    kind: 'accepted',
    orderId: '77',
    message: null,
  });
  for (const account of ['2', '3']) await reserved(records, account, 'second', LONG_OVER_MS);
  await records.close();
  const settle = (login: string) =>
    stage.run(
      'settle',
      login,
      'second',
      'accepted',
      '--number',
      '77',
      '--by',
      'jane',
      '--why',
      'x',
    );
  expect(await settle('2')).toBe(1);
  expect(stage.err.at(-1)).toContain('key="first"');
  expect(await settle('3')).toBe(0);
  // Said again, it is the same word.
  expect(await settle('3')).toBe(0);
  stage.environment.GATEWAY_ORDER_NUMBERS = 'position';
  expect(await settle('2')).toBe(0);
});

test.each([
  [[], 'Say one of'],
  [['drop'], 'Say one of'],
  [['free'], 'login'],
  [['free', 'x'], 'login'],
  [['free', '1', '2'], '2 is one word too many'],
  [['copy'], 'Say where to copy the file'],
  [['move'], 'Say where to move the file'],
  [['status', 'complete'], 'complete is one word too many'],
  [['status', '--now'], '--now'],
  [['hold', '--json'], '--json'],
  [['show', '1'], 'Say the key'],
  [['show', 'x', 'key'], 'login'],
  [['settle', '1'], 'Say the key'],
  [['settle', '1', 'key', 'accepted', '--by', 'jane', '--why', 'ticket'], 'Say --number'],
  [
    ['settle', '1', 'key', 'not-sent', '--number', '7', '--by', 'jane', '--why', 'ticket'],
    'accepted',
  ],
  [['settle', '1', 'key', 'rejected', '--by', 'jane', '--why', 'ticket'], 'Say accepted'],
  [['settle', '1', 'key', 'not-sent', '--why', 'ticket'], 'Say --by'],
  [['settle', '1', 'key', 'not-sent', '--by', 'jane', '--why', ' '], 'Say --why'],
])('%j is refused with what is wrong', async (args, text) => {
  using stage = await rehearse();
  expect(await stage.run(...args)).toBe(2);
  expect(stage.err.join()).toContain(text);
});

test('no file is made, and none that is something else is touched', async () => {
  using stage = await rehearse();
  const missing = join(stage.folder, 'missing', 'orders.db');
  expect(await stage.run('complete', '--file', missing)).toBe(1);
  expect(stage.err.at(-1)).toBe(`The file ${missing} does not exist.`);
  expect(existsSync(join(stage.folder, 'missing'))).toBe(false);
  const thesis = join(stage.folder, 'thesis');
  writeFileSync(thesis, 'my thesis\n'.repeat(100));
  expect(await stage.run('complete', '--file', thesis)).toBe(1);
  expect(stage.err.at(-1)).toContain('is no database');
  expect(await stage.run('show', '1', 'key', '--file', 'memory')).toBe(1);
  expect(stage.err.at(-1)).toContain('in the memory of the service, without a trail');
});

describeWithRedis('with Redis', (serverPath) => {
  const openRecords = async ({ url }: TestRedis, maxPerAccount = 100) =>
    (await openReplica(url, { max: 100, maxPerAccount })).records;
  const shown = ({ url }: TestRedis) => url.replace(`:${REDIS_PASSWORD}@`, '***@');

  test('the status and the marks are those of Redis, and a file is used only where it is named', async () => {
    await using redis = await startTestRedis(serverPath);
    const records = await openRecords(redis);
    await reserved(records, '1', 'key');
    await reserved(records, '1', 'other');
    using stage = await rehearse({ REDIS_URL: redis.url });
    expect(await stage.run('status')).toBe(0);
    const unused = `${stage.path}: not in use, because REDIS_URL is set`;
    expect(stage.out).toEqual([
      `${shown(redis)}: 2 order records, replicas: 1; orders are taken`,
      unused,
    ]);
    expect(stage.err).toEqual([]);
    expect(await stage.run('status', '--file', stage.path)).toBe(0);
    expect(stage.out.at(-1)).toBe(unused.replace(': ', ': 1 order records; '));
    expect(await stage.run('incomplete')).toBe(0);
    expect(stage.out.at(-2)).toMatch(
      /2 order records, .*; the order records in Redis may be incomplete/,
    );
    await expect(records.find(accountNamed('1'), 'another')).rejects.toThrow('may be incomplete');
    expect(await stage.run('complete')).toBe(0);
    expect(stage.out.at(-2)).toMatch(/orders are taken$/);
    await records.close();
    expect(await stage.run('status')).toBe(0);
    expect(stage.out.at(-2)).toMatch(/replicas: 0; no order is taken: no replica is connected/);
    expect(await stage.run('status', '--json')).toBe(0);
    const refusal = 'no replica is connected to Redis';
    const told = { place: shown(redis), records: 2, replicas: 0, refused: refusal, gap: null };
    expect(JSON.parse(stage.out.at(-1) ?? '')).toEqual(told);
    expect(await stage.run('incomplete', '--file', stage.path)).toBe(0);
    using refused = await rehearse({ REDIS_URL: redis.url.replace(REDIS_PASSWORD, 'wrong') });
    expect(await refused.run('status')).toBe(1);
    expect(refused.err.join()).toMatch(/^REDIS_URL: /);
  });

  test('orders are held back and let go on every replica', async () => {
    await using redis = await startTestRedis(serverPath);
    const replicas = [await openRecords(redis), await openRecords(redis)];
    using stage = await rehearse({ REDIS_URL: redis.url });
    await holds(replicas, stage.run);
    expect(await stage.run('status')).toBe(0);
    expect(stage.out.at(-2)).toContain('no order is taken: held back by an operator');
    expect(stage.err).toEqual([]);
    // Nobody listens where the setting is another than the service's, which an operator in an outage must see.
    using elsewhere = await rehearse({ REDIS_URL: redis.url, REDIS_PREFIX: 'another:' });
    expect(await elsewhere.run('hold')).toBe(1);
    expect(await elsewhere.run('hold', '--file', elsewhere.path)).toBe(1);
    expect(elsewhere.out).toEqual([]);
    expect(elsewhere.err).toEqual([
      expect.stringMatching(/^hold is noted, but nobody hears of it: no replica is connected/),
      expect.stringMatching(/^hold is noted, but nobody hears of it: not in use/),
    ]);
    for (const each of replicas) await each.close();
    await redis.kill();
    for (const word of ['hold', 'release']) expect(await stage.run(word)).toBe(1);
    expect(stage.err.filter((line) => line.includes('repeat it'))).toHaveLength(2);
  });

  test('an account is freed there', async () => {
    await using redis = await startTestRedis(serverPath);
    const records = await openRecords(redis, 2);
    using stage = await rehearse({ REDIS_URL: redis.url });
    await frees(records, stage.run);
    expect(stage.out).toEqual(['3 order records count for the account no more']);
    await records.close();
    await redis.kill();
    expect(await stage.run('free', '1')).toBe(1);
  });

  test('it says that orders are refused while they are', async () => {
    await using redis = await startTestRedis(serverPath);
    const records = await openRecords(redis);
    await reserved(records, '1', 'key');
    const statusOf = async (environment: Environment = {}) => {
      using stage = await rehearse({ REDIS_URL: redis.url, ...environment });
      return { code: await stage.run('status'), text: [...stage.out, ...stage.err].join('\n') };
    };
    const full = await statusOf({ ORDER_RECORDS_MAX: '1' });
    expect(full.text).toContain('no order is taken: all 1 order records are in use');
    const elsewhere = await statusOf({ REDIS_PREFIX: 'another:' });
    expect(elsewhere.text).toContain('0 order records, replicas: 0; no order is taken');
    await redis.command('CONFIG', 'SET', 'maxmemory', '1mb');
    await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    expect((await statusOf()).text).toMatch(/no order is taken: Redis refuses to write: .*OOM/);
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
    await redis.command('REPLICAOF', '127.0.0.1', '1');
    expect((await statusOf()).text).toMatch(/READONLY/);
    await redis.command('REPLICAOF', 'NO', 'ONE');
    expect(await redis.command('KEYS', 'another:*')).toEqual([]);
    await records.close();
    await redis.kill();
    expect(await statusOf()).toEqual({
      code: 1,
      text: expect.stringMatching(
        /nothing is known of the order records, and no order is taken\n.*Redis cannot be reached/,
      ),
    });
  });

  test('the program ends when it has asked', async () => {
    await using redis = await startTestRedis(serverPath);
    const main = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');
    const env = { ...process.env, REDIS_URL: redis.url };
    const run = promisify(execFile)(process.execPath, [main, 'orders', 'status'], { env });
    expect((await run).stdout).toContain(
      `${shown(redis)}: 0 order records, replicas: 0; no order is taken`,
    );
  });
});
