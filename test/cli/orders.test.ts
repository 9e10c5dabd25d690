import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { findUnusable } from '../../src/check/configuration.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { dispatch } from '../../src/cli/dispatch.ts';
import { type Environment, readConfig } from '../../src/config.ts';
import { accountOf } from '../../src/domain/auth/viewer.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createHeaderForwarding } from '../../src/lib/forwarded-headers.ts';
import { openSqliteOrderRecords } from '../../src/store/sqlite/sqlite-records.ts';
import { reserved } from '../store/order-records-contract.ts';
import { openReplica } from '../store/redis/replica.ts';
import { LONG_OVER_MS } from '../store/settlement-contract.ts';
import { accountNamed, loginNamed } from '../support/accounts.ts';
import { datesBy } from '../support/dates.ts';
import { describeWithRedis } from '../support/describe-with.ts';
import { keyOf } from '../support/order-keys.ts';
import { REDIS_PASSWORD, startTestRedis, type TestRedis } from '../support/redis.ts';
import { startSpoilingRedis } from '../support/spoiling-redis.ts';

/** Sets up the command `orders` for a new file with one order record. */
async function openCli(given: Environment = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'trading-graph-orders-cli-'));
  const path = join(folder, 'orders.db');
  const environment: Record<string, string | undefined> = { ORDER_STORE: path, ...given };
  const out: string[] = [];
  const err: string[] = [];
  const open = (maxPerAccount = 100, onWarn = (_: string) => {}) =>
    openSqliteOrderRecords({
      path,
      max: 100,
      maxPerAccount,
      clock: systemClock,
      dates: datesBy(),
      takesOldKeys: true,
      onWarn,
    });
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
        stopped: () => Promise.resolve(),
      }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

test('commands hold and release orders, and declare the records incomplete', async () => {
  using cli = await openCli();
  const statusAfter = async (command: string) => {
    expect(await cli.run(command)).toBe(0);
    if (command === 'hold' || command === 'release') expect(await cli.run('status')).toBe(0);
    return cli.out.at(-1);
  };
  expect(await statusAfter('status')).toBe(`${cli.path}: 1 order records; orders are taken`);
  const held = await statusAfter('hold');
  expect(held).toContain('no order is taken: orders are held back by an operator');
  // Orders are still held after a restart.
  const restarted = await cli.open();
  expect(restarted.status.holdReason).toContain('held back by an operator');
  await restarted.close();
  expect(await statusAfter('release')).toContain('orders are taken');
  expect(await statusAfter('incomplete')).toContain('keys without a record are refused');
  expect(cli.err).toEqual([]);
});

test('the command copies the file while the service runs, but does not copy Redis', async () => {
  using cli = await openCli();
  const records = await cli.open();
  const copy = join(cli.folder, 'copy.db');
  expect(await cli.run('copy', copy)).toBe(0);
  expect(cli.out).toEqual([`${copy}: 1 order records`]);
  await reserved(records, '1', 'later');
  await records.close();
  expect(await cli.run('copy', copy)).toBe(1);
  expect(cli.err).toEqual([`The file ${cli.path} is not copied: ${copy} exists already.`]);
  using elsewhere = await openCli({ REDIS_URL: 'redis://127.0.0.1:1' });
  expect(await elsewhere.run('copy', copy)).toBe(2);
  // After the status command and the check have read the copy, the service still detects that it is a copy.
  cli.environment.ORDER_STORE = copy;
  expect(await cli.run('status')).toBe(0);
  await findUnusable(readConfig({ ORDER_STORE: copy, PORT: '0', ADMIN_PORT: '0' }), new Set(), {
    onWarn() {},
    onOpen() {},
  });
  renameSync(copy, cli.path);
  const warnings: string[] = [];
  const restored = await cli.open(100, (message) => warnings.push(message));
  expect(warnings).toEqual([expect.stringContaining('is not the file that was used last')]);
  await restored.close();
});

test('an order of a tenant is settled only under its account', async () => {
  using cli = await openCli({ GATEWAY_FORWARD_HEADERS: 'x-tenant' });
  const forwarding = createHeaderForwarding(['x-tenant']);
  const account = accountOf(loginNamed('2'), forwarding.forwarded({ 'x-tenant': 'acme' }));
  const records = await cli.open();
  const key = keyOf('k');
  for (const each of [account, '2']) await reserved(records, each, 'k', LONG_OVER_MS);
  await records.close();
  const settle = (name: string, by = 'jane') =>
    cli.run('settle', name, key, 'not-sent', '--by', by, '--why', 'ticket');
  expect(await settle('2~other')).toBe(1);
  expect(cli.err.at(-1)).toContain('has no such order');
  expect(await cli.run('list')).toBe(0);
  const names = cli.out.map(
    (line) => /account="([^"]+)" key="[^"]+" .* as it was cut off/.exec(line)?.[1],
  );
  const [name = ''] = names.filter((each) => each !== undefined && each !== '2');
  expect(await settle(name)).toBe(0);
  expect(cli.out.at(-1)).toMatch(/^Settled: .*by="jane"/);
  // If another operator settles the order in the same way, the output still names the first operator.
  expect(await settle(name, 'joe')).toBe(0);
  expect(cli.out.at(-1)).toMatch(/^Settled: .*by="jane"/);
  expect(await cli.run('show', name, key)).toBe(0);
  expect(cli.out.at(-3)).toMatch(/SETTLED.*by="jane"/);
  // The order of the same login without a tenant is unchanged.
  const linesBefore = cli.out.length;
  expect(await cli.run('list', '--unknown')).toBe(0);
  expect(cli.out.slice(linesBefore)).toEqual([
    expect.stringMatching(/account="2" key="[^"]+" .* {2}unknown, as it was cut off$/),
  ]);
});

test.each([
  [[], 'Name one of'],
  [['copy'], 'Name the file to copy to'],
  [['status', 'incomplete'], 'incomplete is one argument too many'],
  [['list', 'x'], 'login'],
  [['status', '--now'], '--now'],
  [['show', '1'], 'Name the key'],
  [['settle', '1', keyOf('key'), 'accepted', '--by', 'jane', '--why', 'ticket'], 'Give --number'],
  [
    ['settle', '1', keyOf('key'), 'not-sent', '--number', '7', '--by', 'jane', '--why', 'ticket'],
    'accepted',
  ],
  [['settle', '1', keyOf('key'), 'rejected', '--by', 'jane', '--why', 'ticket'], 'Choose accepted'],
  [['settle', '1', keyOf('key'), 'not-sent', '--by', 'jane', '--why', ' '], 'Give --why'],
])('the arguments %j are refused with the message %j', async (args, text) => {
  using cli = await openCli();
  expect(await cli.run(...args)).toBe(2);
  expect(cli.err.join()).toContain(text);
});

test('a command fails for a missing file, a foreign file and records in memory', async () => {
  using cli = await openCli();
  const missing = join(cli.folder, 'missing', 'orders.db');
  cli.environment.ORDER_STORE = missing;
  expect(await cli.run('incomplete')).toBe(1);
  expect(cli.err.at(-1)).toBe(`The file ${missing} does not exist.`);
  expect(existsSync(join(cli.folder, 'missing'))).toBe(false);
  const foreign = join(cli.folder, 'thesis');
  writeFileSync(foreign, 'my thesis\n'.repeat(100));
  cli.environment.ORDER_STORE = foreign;
  expect(await cli.run('incomplete')).toBe(1);
  expect(cli.err.at(-1)).toContain('is not a database');
  cli.environment.ORDER_STORE = 'memory';
  expect(await cli.run('show', '1', keyOf('key'))).toBe(1);
  expect(cli.err.at(-1)).toContain('in the memory of the service');
});

describeWithRedis('with Redis', (serverPath) => {
  const openRecords = async ({ url }: TestRedis, maxPerAccount = 100) =>
    (await openReplica(url, { max: 100, maxPerAccount })).records;
  const urlInOutput = ({ url }: TestRedis) => url.replace(`:${REDIS_PASSWORD}@`, '***@');

  test('the commands status and incomplete use Redis', async () => {
    await using redis = await startTestRedis(serverPath);
    const records = await openRecords(redis);
    await reserved(records, '1', 'key');
    await reserved(records, '1', 'other');
    using cli = await openCli({ REDIS_URL: redis.url });
    expect(await cli.run('status')).toBe(0);
    expect(cli.out).toEqual([`${urlInOutput(redis)}: 2 order records; orders are taken`]);
    expect(await cli.run('incomplete')).toBe(0);
    expect(cli.out.at(-1)).toContain('2 order records; keys without a record are refused');
    await expect(records.find(accountNamed('1'), keyOf('another'))).rejects.toThrow(
      'do not reach back',
    );
    await records.close();
    using refused = await openCli({ REDIS_URL: redis.url.replace(REDIS_PASSWORD, 'wrong') });
    expect(await refused.run('status')).toBe(1);
    expect(refused.err.join()).toMatch(/^REDIS_URL: /);
  });

  test('the status reports that orders are refused', async () => {
    await using redis = await startTestRedis(serverPath);
    const records = await openRecords(redis);
    await reserved(records, '1', 'key');
    const statusOf = async (environment: Environment = {}) => {
      using cli = await openCli({ REDIS_URL: redis.url, ...environment });
      return { code: await cli.run('status'), text: [...cli.out, ...cli.err].join('\n') };
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

  test('a change whose answer is lost may have been made; without a connection nothing is done', async () => {
    await using redis = await startTestRedis(serverPath);
    await using proxy = await startSpoilingRedis(redis.url);
    const records = await openRecords(redis);
    using cli = await openCli({ REDIS_URL: proxy.url });
    const isChange = (_: string, script: string) => script.includes('given.isHeld and 1 or 0');
    for (const command of ['hold', 'release']) {
      proxy.spoil((reply) => (proxy.spoilt === 0 ? Buffer.from('$-1\r\n') : reply), isChange);
      expect(await cli.run(command)).toBe(1);
      expect(cli.err.at(-1)).toMatch(/: it is unknown whether this was done. Repeat it.$/);
      await records.look();
      expect(records.status.holdReason === null).toBe(command === 'release');
    }
    proxy.spoil(() => null);
    expect(await cli.run('hold')).toBe(1);
    expect(cli.err.at(-1)).toMatch(/: nothing was done. Repeat it.$/);
    await records.close();
  });

  test('the program ends after its output', async () => {
    await using redis = await startTestRedis(serverPath);
    await (await openRecords(redis)).close();
    const main = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');
    const env = { ...process.env, REDIS_URL: redis.url };
    const run = promisify(execFile)(process.execPath, [main, 'orders', 'status'], { env });
    expect((await run).stdout).toContain(
      `${urlInOutput(redis)}: 0 order records; orders are taken`,
    );
  });
});
