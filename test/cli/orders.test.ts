import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { findUnusable } from '../../src/check/gateway/unusable.ts';
import { dispatch } from '../../src/cli/command/dispatch.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { type Environment, readConfig } from '../../src/config.ts';
import { accountOf } from '../../src/domain/auth/viewer.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createHeaderForwarding } from '../../src/lib/forwarded-headers.ts';
import { openSqliteOrderRecords } from '../../src/store/sqlite/order-records.ts';
import { reserved } from '../store/order-records-contract.ts';
import { openReplica } from '../store/redis/replica.ts';
import { LONG_OVER_MS } from '../store/settlement-contract.ts';
import { accountNamed, loginNamed } from '../support/accounts.ts';
import { describeWithRedis } from '../support/describe-with.ts';
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

test('orders are held back, by a later process too, let go, and refused where records may be missing, by a word each', async () => {
  using stage = await rehearse();
  const status = async (word = 'status') => {
    expect(await stage.run(word)).toBe(0);
    if (word === 'hold' || word === 'release') expect(await stage.run('status')).toBe(0);
    return stage.out.at(-1);
  };
  expect(await status()).toBe(`${stage.path}: 1 order records; orders are taken`);
  expect(await status('hold')).toContain('no order is taken: orders are held back by an operator');
  const later = await stage.open();
  expect(later.status.holdReason).toContain('held back by an operator');
  await later.close();
  expect(await status('release')).toContain('orders are taken');
  expect(await status('incomplete')).toContain('may be incomplete');
  expect(stage.err).toEqual([]);
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
  expect(await elsewhere.run('copy', copy)).toBe(2);
  // Looked at, by the command or by a check, it is a copy still.
  stage.environment.ORDER_STORE = copy;
  expect(await stage.run('status')).toBe(0);
  await findUnusable(readConfig({ ORDER_STORE: copy, PORT: '0', ADMIN_PORT: '0' }), new Set(), {
    onWarn() {},
    onOpen() {},
  });
  renameSync(copy, stage.path);
  const warnings: string[] = [];
  const restored = await stage.open(100, (message) => warnings.push(message));
  expect(warnings).toEqual([expect.stringContaining('is another file than was left')]);
  await restored.close();
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
  expect(await settle('other')).toBe(1);
  expect(stage.err.at(-1)).toContain('has no such order');
  expect(await settle('acme')).toBe(0);
  expect(stage.out.at(-1)).toMatch(/^Settled\. .*by="jane"/);
  // The same word of another says whose it was.
  expect(await settle('acme', 'joe')).toBe(0);
  expect(stage.out.at(-1)).toMatch(/^Settled before: .*by="jane"/);
  expect(await stage.run('show', '2', key, '--header', 'x-tenant=acme')).toBe(0);
  expect(stage.out.at(-3)).toMatch(/SETTLED.*by="jane"/);
  // One that is mistyped would name another account.
  for (const header of ['x-tenant', 'x-tenants=acme']) {
    expect(await stage.run('show', '2', key, '--header', header)).toBe(2);
  }
  // The one of that login without a tenant is untouched.
  expect(await stage.run('list', '--unknown')).toBe(0);
  expect(stage.out.at(-1)).toMatch(
    /login="2" key="\\u001b\[2J\\u009b1m" .* {2}unknown, as it was cut off$/,
  );
  for (const each of ['\u001b', '\u009b']) expect(stage.out.join()).not.toContain(each);
  expect(await stage.run('list')).toBe(0);
  expect(stage.out.slice(-3).map((line) => /login="(\d)"/.exec(line)?.[1])).toEqual([
    '1',
    '2',
    '2',
  ]);
});

test.each([
  [[], 'Say one of'],
  [['copy'], 'Say where to copy the file'],
  [['status', 'incomplete'], 'incomplete is one word too many'],
  [['list', 'x'], 'login'],
  [['status', '--now'], '--now'],
  [['hold', '--unknown'], 'orders hold has no --unknown'],
  [['show', '1'], 'Say the key'],
  [['settle', '1', 'key', 'accepted', '--by', 'jane', '--why', 'ticket'], 'Say --number'],
  [
    ['settle', '1', 'key', 'not-sent', '--number', '7', '--by', 'jane', '--why', 'ticket'],
    'accepted',
  ],
  [['settle', '1', 'key', 'rejected', '--by', 'jane', '--why', 'ticket'], 'Say accepted'],
  [['settle', '1', 'key', 'not-sent', '--by', 'jane', '--why', ' '], 'Say --why'],
])('%j is refused with what is wrong', async (args, text) => {
  using stage = await rehearse();
  expect(await stage.run(...args)).toBe(2);
  expect(stage.err.join()).toContain(text);
});

test('no file is made, and none that is something else is touched', async () => {
  using stage = await rehearse();
  const missing = join(stage.folder, 'missing', 'orders.db');
  stage.environment.ORDER_STORE = missing;
  expect(await stage.run('incomplete')).toBe(1);
  expect(stage.err.at(-1)).toBe(`The file ${missing} does not exist.`);
  expect(existsSync(join(stage.folder, 'missing'))).toBe(false);
  const thesis = join(stage.folder, 'thesis');
  writeFileSync(thesis, 'my thesis\n'.repeat(100));
  stage.environment.ORDER_STORE = thesis;
  expect(await stage.run('incomplete')).toBe(1);
  expect(stage.err.at(-1)).toContain('is no database');
  stage.environment.ORDER_STORE = 'memory';
  expect(await stage.run('show', '1', 'key')).toBe(1);
  expect(stage.err.at(-1)).toContain('in the memory of the service');
});

describeWithRedis('with Redis', (serverPath) => {
  const openRecords = async ({ url }: TestRedis, maxPerAccount = 100) =>
    (await openReplica(url, { max: 100, maxPerAccount })).records;
  const shown = ({ url }: TestRedis) => url.replace(`:${REDIS_PASSWORD}@`, '***@');

  test('the status and the mark are those of Redis', async () => {
    await using redis = await startTestRedis(serverPath);
    const records = await openRecords(redis);
    await reserved(records, '1', 'key');
    await reserved(records, '1', 'other');
    using stage = await rehearse({ REDIS_URL: redis.url });
    expect(await stage.run('status')).toBe(0);
    expect(stage.out).toEqual([`${shown(redis)}: 2 order records; orders are taken`]);
    expect(await stage.run('incomplete')).toBe(0);
    expect(stage.out.at(-1)).toMatch(/2 order records; .* may be incomplete/);
    await expect(records.find(accountNamed('1'), 'another')).rejects.toThrow('may be incomplete');
    await records.close();
    using refused = await rehearse({ REDIS_URL: redis.url.replace(REDIS_PASSWORD, 'wrong') });
    expect(await refused.run('status')).toBe(1);
    expect(refused.err.join()).toMatch(/^REDIS_URL: /);
  });

  test('it says that orders are refused while they are', async () => {
    await using redis = await startTestRedis(serverPath);
    const records = await openRecords(redis);
    await reserved(records, '1', 'key');
    const statusOf = async (environment: Environment = {}) => {
      using stage = await rehearse({ REDIS_URL: redis.url, ...environment });
      return { code: await stage.run('status'), text: [...stage.out, ...stage.err].join('\n') };
    };
    const elsewhere = await statusOf({ REDIS_PREFIX: 'another:' });
    expect(elsewhere.text).toContain('Redis has no order records under this REDIS_PREFIX');
    await redis.command('CONFIG', 'SET', 'maxmemory', '1mb');
    await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    expect((await statusOf()).text).toMatch(/no order is taken: .*OOM/);
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
    await redis.command('REPLICAOF', '127.0.0.1', '1');
    expect((await statusOf()).text).toMatch(/READONLY/);
    await redis.command('REPLICAOF', 'NO', 'ONE');
    expect(await redis.command('KEYS', 'another:*')).toEqual([]);
    await records.close();
    await redis.kill();
    expect(await statusOf()).toEqual({
      code: 1,
      text: expect.stringMatching(/Redis cannot be reached/),
    });
  });

  test('the program ends when it has asked', async () => {
    await using redis = await startTestRedis(serverPath);
    await (await openRecords(redis)).close();
    const main = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');
    const env = { ...process.env, REDIS_URL: redis.url };
    const run = promisify(execFile)(process.execPath, [main, 'orders', 'status'], { env });
    expect((await run).stdout).toContain(`${shown(redis)}: 0 order records; orders are taken`);
  });
});
