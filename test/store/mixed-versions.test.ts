import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import type { OrderRecords } from '../../src/store/order-records.ts';
import type { openRedisOrderRecords } from '../../src/store/redis/order-records.ts';
import type { openSqliteOrderRecords } from '../../src/store/sqlite/order-records.ts';
import { eventually } from '../support/eventually.ts';
import { redisServerPath } from '../support/machine.ts';
import { startTestRedis } from '../support/redis.ts';
import { request } from './order-records-contract.ts';
import { DURABLE, twoBeats } from './redis/replica.ts';

/** The last version whose order records do not know when a key was made. */
const FORMER = 'f2d1f7f7';
const root = resolve(import.meta.dirname, '../..');
const hasFormer = spawnSync('git', ['cat-file', '-e', FORMER], { cwd: root }).status === 0;
const former = mkdtempSync(join(tmpdir(), 'trading-graph-former-'));

interface Stores {
  readonly openSqliteOrderRecords: typeof openSqliteOrderRecords;
  readonly openRedisOrderRecords: typeof openRedisOrderRecords;
}

async function storesOf(folder: string): Promise<Stores> {
  const [sqlite, redis] = await Promise.all(
    ['sqlite', 'redis'].map((name) => import(`${folder}/src/store/${name}/order-records.ts`)),
  );
  return { ...sqlite, ...redis };
}

/** A reservation that both versions read: the last one calls the account and the digest of the input by other names. */
function asked(key: string) {
  const reservation = request('1', key);
  const { account: login, inputDigest: canonical } = reservation;
  return { ...reservation, login, canonical };
}

/** A key that was made so long ago, as a replica of this version asks; another one does not know it. */
function made(key: string, agoMs: number) {
  const laterMs = Date.now();
  return { ...asked(key), keyTime: { madeMs: laterMs - agoMs, laterMs, differMs: 0 } };
}

const nameOf = (answer: Promise<unknown>) => answer.then(String, ({ name }: Error) => name);

/** Whichever of the two has lost records, they send nothing twice, and this version takes young keys. */
async function expectOnce(now: OrderRecords, before: OrderRecords): Promise<void> {
  await eventually(async () =>
    expect(await nameOf(now.reserve(made('lost', 0)))).toBe('RecordsGapError'),
  );
  expect(await nameOf(before.reserve(asked('lost')))).toBe('RecordsUnavailableError');
  await eventually(async () =>
    expect(await now.reserve(made('young', -59_900))).toMatchObject({ reserved: true }),
  );
  expect(await before.reserve(asked('young'))).toMatchObject({ reserved: false });
  expect(await nameOf(before.reserve(asked('unknown')))).toBe('RecordsUnavailableError');
  expect(await nameOf(now.reserve(made('unknown', 0)))).toBe('RecordsGapError');
}

describe.skipIf(!hasFormer)('a replica of this version beside one of the last', () => {
  let versions: Record<'this' | 'last', Stores>;
  beforeAll(async () => {
    const unpack = `git archive ${FORMER} src lib engine package.json | tar x -C ${former}`;
    spawnSync('sh', ['-ec', unpack], { cwd: root });
    symlinkSync(join(root, 'node_modules'), join(former, 'node_modules'));
    versions = { this: await storesOf(root), last: await storesOf(former) };
  });
  afterAll(() => rmSync(former, { recursive: true }));

  const common = { max: 100, accounts: 'login', clock: systemClock, onWarn() {} };
  const PAIRS = [
    ['this', 'last'],
    ['last', 'this'],
  ] as const;

  test.each(PAIRS)(
    'on one file, where %s lost an order and %s begins first',
    async (loser, first) => {
      const path = join(former, `${loser}.db`);
      const open = (version: 'this' | 'last') =>
        versions[version].openSqliteOrderRecords({ ...common, path });
      const lose = await open(loser);
      await lose.reserve(made('kept', 0));
      copyFileSync(path, `${path}.copy`);
      expect(await lose.reserve(made('lost', -59_000))).toMatchObject({ reserved: true });
      await lose.close();
      copyFileSync(`${path}.copy`, path);
      const [one, other] = [await open(first), await open(loser)];
      await (first === 'this' ? expectOnce(one, other) : expectOnce(other, one));
      await Promise.all([one.close(), other.close()]);
    },
  );

  test.skipIf(redisServerPath === null).each(PAIRS)(
    'on one Redis, where %s has left with an order, and %s finds it',
    async (loser, finder) => {
      await using redis = await startTestRedis(redisServerPath ?? '', DURABLE);
      const open = (version: 'this' | 'last') =>
        versions[version].openRedisOrderRecords({
          ...common,
          url: redis.url,
          prefix: 'trading-graph:',
          redisTimeoutMs: 10_000,
          durability: 'required',
          uptimeMs: () => performance.now(),
          timing: { beatMs: 50, graceMs: 200, leaseMs: 10_000, patienceMs: 20_000 },
        });
      const [lose, stays] = [await open(loser), await open(finder)];
      expect(await lose.reserve(made('lost', -59_000))).toMatchObject({ reserved: true });
      await lose.close();
      await twoBeats(redis);
      await redis.command('FLUSHALL');
      const again = await open(loser);
      await (finder === 'this' ? expectOnce(stays, again) : expectOnce(again, stays));
      await Promise.all([stays.close(), again.close()]);
    },
  );
});
