import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { OperatorFile } from '../../../src/store/sqlite/sqlite-operator.ts';
import { openSqliteOrderRecords } from '../../../src/store/sqlite/sqlite-records.ts';
import { datesBy } from '../../support/dates.ts';
import { eventually } from '../../support/eventually.ts';
import { keyOf } from '../../support/order-keys.ts';
import { temporaryFolder } from '../../support/own-folder.ts';
import { accepted, keyFor, request, reserved, unknown } from '../order-records-contract.ts';

const MINUTE_MS = 60_000;
const TOO_OLD = { name: 'KeyTooOldError', earlierUnknown: true };

/** Opens the records by a clock that is ahead of this machine's, and that was measured to be behind the gateway's. */
async function openRecords(
  path: string,
  {
    aheadMs = () => 0,
    skewMs,
    takesOldKeys = true,
  }: {
    readonly aheadMs?: () => number;
    readonly skewMs?: () => number | null;
    readonly takesOldKeys?: boolean;
  } = {},
) {
  const warnings: string[] = [];
  const clock = { ...systemClock, date: () => Date.now() + aheadMs() };
  const records = await openSqliteOrderRecords({
    path,
    max: 1_000,
    clock,
    dates: datesBy(clock, skewMs),
    // The first store of a test takes orders at once.
    takesOldKeys,
    onWarn: (message) => void warnings.push(message),
  });
  return { records, warnings, [Symbol.asyncDispose]: () => records.close() };
}

/** The request of an order whose key is made this long after now. */
const madeIn = (name: string, aheadMs: number) => ({
  ...request('1', name),
  key: keyOf(name, Date.now() + aheadMs),
});

function operatorOf(path: string) {
  const operator = new OperatorFile({ path, max: 1_000, onWarn() {} });
  return Object.assign(operator, { [Symbol.dispose]: () => operator.close() });
}

const LATE_KEYS = ['late1', 'late2', 'late3'];

/**
 * Makes a file with orders. By the mark file beside it, `.mark`, the records detect an older copy. The files `.kept` are
 * copies of both from before the late orders.
 */
async function fileWithCopy(folder: string): Promise<string> {
  const path = join(folder, 'orders.db');
  {
    await using one = await openRecords(path);
    await one.records.settle(await reserved(one.records, '1', 'early'), accepted);
  }
  for (const each of [path, `${path}.mark`]) copyFileSync(each, `${each}.kept`);
  await using one = await openRecords(path);
  for (const key of LATE_KEYS) {
    await one.records.settle(await reserved(one.records, '1', key), accepted);
  }
  return path;
}

/** Each function makes the file lose orders, and returns the path of the file afterwards. */
const losses: Readonly<Record<string, (path: string) => string>> = {
  'an older copy is moved over the file': (path) => {
    renameSync(`${path}.kept`, path);
    return path;
  },
  'an older copy is written over the file by cp': (path) => {
    copyFileSync(`${path}.kept`, path);
    return path;
  },
  'an older copy replaces the file without a mark': (path) => {
    renameSync(`${path}.kept`, path);
    rmSync(`${path}.mark`);
    return path;
  },
  'an older copy replaces the file, with the older mark, which names another inode': (path) => {
    renameSync(`${path}.kept`, path);
    renameSync(`${path}.mark.kept`, `${path}.mark`);
    return path;
  },
  'the file is moved alone': (path) => {
    renameSync(path, `${path}.moved`);
    return `${path}.moved`;
  },
  'only the mark remains': (path) => {
    rmSync(path);
    return path;
  },
  'the mark is invalid': (path) => {
    writeFileSync(`${path}.mark`, 'a line of another program');
    return path;
  },
  'the file is emptied': (path) => {
    writeFileSync(path, '');
    return path;
  },
};

test.each(Object.entries(losses))(
  'after a loss the next start logs one warning, and no order is sent twice: %s',
  async (_, lose) => {
    await using folder = await temporaryFolder();
    const path = await fileWithCopy(folder.path);
    const pathAfter = lose(path);
    {
      await using one = await openRecords(pathAfter, { skewMs: () => null });
      expect(one.warnings).toEqual([expect.stringMatching(/may lack orders/)]);
      // Until the gateway's clock is measured, all unknown keys are refused.
      const refused = one.records.reserve(madeIn('new', 0));
      await expect(refused).rejects.toThrow('the clock of the gateway is not known yet');
      expect(one.records.status).toMatchObject({ sinceMs: null, losses: 1 });
    }
    let aheadMs = 0;
    await using one = await openRecords(pathAfter, { aheadMs: () => aheadMs });
    expect(one.warnings).toEqual([]);
    for (const key of LATE_KEYS) {
      const repeat = await one.records.reserve(request('1', key)).catch((error: Error) => error);
      if (repeat instanceof Error) expect(repeat).toMatchObject(TOO_OLD);
      else expect(repeat).toMatchObject({ reserved: false });
    }
    const early = madeIn('early', 1_900);
    await expect(one.records.reserve(early)).rejects.toMatchObject(TOO_OLD);
    await expect(one.records.find(early.account, early.key)).rejects.toMatchObject(TOO_OLD);
    const { key, account } = keyFor('1', 'void');
    await expect(one.records.voidKey({ account, key })).rejects.toMatchObject(TOO_OLD);
    aheadMs = MINUTE_MS;
    await expect(one.records.reserve(early)).rejects.toMatchObject(TOO_OLD);
    await expect(one.records.find(account, key)).rejects.toMatchObject(TOO_OLD);
    expect(await one.records.reserve(madeIn('late', MINUTE_MS))).toMatchObject({ reserved: true });
  },
);

test('a key that was made two seconds ahead is not sent again after its store was replaced', async () => {
  await using folder = await temporaryFolder();
  const path = await fileWithCopy(folder.path);
  let aheadMs = 0;
  const order = madeIn('ahead', 1_990);
  {
    await using one = await openRecords(path);
    expect(await one.records.reserve(order)).toMatchObject({ reserved: true });
  }
  copyFileSync(`${path}.kept`, path);
  // The clock of the next process is a second behind, as far as processes can differ.
  await using next = await openRecords(path, { aheadMs: () => aheadMs - 1_000 });
  for (; aheadMs < 10_000; aheadMs += 500) {
    const repeat = next.records.reserve(order);
    await expect(repeat).rejects.toThrow();
  }
  await expect(next.records.reserve(order)).rejects.toMatchObject(TOO_OLD);
  const young = madeIn('young', 9_000);
  expect(await next.records.reserve(young)).toMatchObject({ reserved: true });
});

test('a gateway whose clock was ahead and is set back makes no old key young', async () => {
  await using folder = await temporaryFolder();
  const path = await fileWithCopy(folder.path);
  let skewMs = 10 * MINUTE_MS;
  await using one = await openRecords(path, { skewMs: () => skewMs });
  await using other = await openRecords(path, { skewMs: () => 0 });
  const order = madeIn('k', skewMs);
  const voided = madeIn('voided', skewMs + 1_000);
  await one.records.reserve(order);
  await one.records.voidKey(voided);
  skewMs = 0;
  copyFileSync(`${path}.kept`, path);
  // The process that finds the loss has judged no key by that clock, and the other process raises the time.
  await expect(other.records.reserve(madeIn('new', 0))).rejects.toMatchObject(TOO_OLD);
  await eventually(() => other.records.status.sinceMs !== null);
  await eventually(() => Number(one.records.status.sinceMs) > Date.now() + 9 * MINUTE_MS);
  let aheadMs = 10 * MINUTE_MS;
  await using later = await openRecords(path, { aheadMs: () => aheadMs });
  for (; aheadMs < 10.2 * MINUTE_MS; aheadMs += 2_000) {
    await expect(later.records.reserve(order)).rejects.toMatchObject(TOO_OLD);
    await expect(later.records.voidKey(voided)).rejects.toMatchObject(TOO_OLD);
  }
});

test('a file that is damaged while it is in use takes no order until a restart', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'orders.db');
  {
    await using one = await openRecords(path);
    await one.records.settle(await reserved(one.records, '1', 'before'), accepted);
    const whole = readFileSync(path);
    writeFileSync(path, Buffer.alloc(whole.length, 'damage'));
    const message = expect.stringContaining('damaged');
    const damaged = { name: 'RecordsUnavailableError', message };
    await expect(one.records.reserve(request('1', 'new'))).rejects.toMatchObject(damaged);
    writeFileSync(path, whole);
    await expect(one.records.reserve(request('1', 'new'))).rejects.toMatchObject(damaged);
    await expect(
      one.records.find(request('1', 'before').account, keyOf('before')),
    ).rejects.toThrow();
    expect(one.records.status.degradedReason).toContain('damaged');
    expect(one.warnings).toEqual([expect.stringContaining('damaged')]);
  }
  await using one = await openRecords(path);
  expect(await one.records.reserve(request('1', 'before'))).toMatchObject({ reserved: false });
  expect(await one.records.reserve(request('1', 'new'))).toMatchObject({ reserved: true });
});

test('a loss is detected if a newer copy replaces a restored file that has reserved an order since', async () => {
  await using folder = await temporaryFolder();
  const path = await fileWithCopy(folder.path);
  copyFileSync(path, `${path}.later`);
  losses['an older copy replaces the file without a mark']?.(path);
  {
    await using one = await openRecords(path);
    await using later = await openRecords(path, { aheadMs: () => MINUTE_MS });
    await eventually(() => one.records.status.sinceMs !== null);
    const order = madeIn('between', MINUTE_MS);
    expect(await later.records.reserve(order)).toMatchObject({ reserved: true });
  }
  copyFileSync(`${path}.later`, path);
  await using one = await openRecords(path);
  expect(one.warnings).toEqual([expect.stringContaining('may lack orders')]);
  await expect(one.records.reserve(request('1', 'between'))).rejects.toMatchObject(TOO_OLD);
});

test('a loss is detected if a copy without records is restored without a mark', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'orders.db');
  await (await openRecords(path)).records.close();
  copyFileSync(path, `${path}.kept`);
  {
    await using one = await openRecords(path);
    await reserved(one.records, '1', 'k');
  }
  losses['an older copy replaces the file without a mark']?.(path);
  await using one = await openRecords(path);
  await expect(one.records.reserve(request('1', 'k'))).rejects.toMatchObject(TOO_OLD);
});

test('no loss is detected after a restart, with an older mark, by two processes or by an operator', async () => {
  await using folder = await temporaryFolder();
  const path = await fileWithCopy(folder.path);
  copyFileSync(`${path}.mark.kept`, `${path}.mark`);
  {
    await using one = await openRecords(path);
    await using two = await openRecords(path);
    for (let n = 0; n < 10; n += 1) {
      const orders = [one, two].map(({ records }, index) =>
        reserved(records, '1', `${n}-${index}`),
      );
      await Promise.all(orders);
      const before = readFileSync(path);
      using operator = operatorOf(path);
      expect((await operator.status()).losses).toBe(0);
      expect(readFileSync(path).equals(before)).toBe(true);
    }
    expect([...one.warnings, ...two.warnings]).toEqual([]);
  }
  await using one = await openRecords(path);
  await reserved(one.records, '1', 'new');
  expect(one.warnings).toEqual([]);
  // Only its owner can read the file.
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('an operator’s command detects that the file is an older copy, and the next start still refuses lost keys', async () => {
  await using folder = await temporaryFolder();
  const path = await fileWithCopy(folder.path);
  copyFileSync(`${path}.kept`, path);
  // However often the operator repeats the command, the loss stays detected.
  for (let n = 0; n < 12; n += 1) {
    using operator = operatorOf(path);
    expect((await operator.status()).sinceMs).toBe(null);
  }
  await using one = await openRecords(path);
  await expect(one.records.reserve(request('1', 'late1'))).rejects.toMatchObject(TOO_OLD);
});

test.each([
  ['an order', false],
  ['a query', true],
])('a copy written over a file in use is detected by %s', async (_, isQuery) => {
  await using folder = await temporaryFolder();
  const path = await fileWithCopy(folder.path);
  await using one = await openRecords(path);
  const pending = await reserved(one.records, '1', 'before');
  {
    using operator = operatorOf(path);
    await operator.hold(true);
  }
  await eventually(() => one.records.status.holdReason !== null);
  copyFileSync(`${path}.kept`, path);
  const { account } = pending;
  if (isQuery)
    await expect(one.records.find(account, keyOf('late1'))).rejects.toMatchObject(TOO_OLD);
  for (const key of [...LATE_KEYS, 'before']) {
    await expect(one.records.reserve(request('1', key))).rejects.toMatchObject(TOO_OLD);
  }
  expect(one.warnings).toEqual([expect.stringContaining('may lack orders')]);
  await eventually(() => one.records.status.holdReason !== null);
  // The process writes the outcome back, although the order's record is lost.
  await one.records.settle(pending, unknown);
  await one.records.settle(pending, accepted);
  expect(await one.records.find(account, keyOf('before'))).toMatchObject({
    id: pending.id,
    outcome: accepted,
    asked: pending.asked,
  });
});

test('a hold that a copy took is written back, although the file was locked at the first order', async () => {
  await using folder = await temporaryFolder();
  const path = await fileWithCopy(folder.path);
  await using one = await openRecords(path);
  {
    using operator = operatorOf(path);
    await operator.hold(true);
  }
  await eventually(() => one.records.status.holdReason !== null);
  copyFileSync(`${path}.kept`, path);
  using writer = new DatabaseSync(path);
  writer.exec('BEGIN IMMEDIATE');
  const refused = one.records.reserve(request('1', 'during'));
  // Longer than an order waits for the lock, and shorter than it then waits to read.
  setTimeout(() => writer.exec('COMMIT'), 2_200);
  await expect(refused).rejects.toMatchObject({ earlierUnknown: true });
  await eventually(() => one.records.status.degradedReason === null);
  expect(one.records.status.holdReason).not.toBe(null);
});

test('a copy written over a file in use is detected if it lacks the writes of another process', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'orders.db');
  await using one = await openRecords(path);
  {
    await using two = await openRecords(path);
    await reserved(two.records, '1', 'early');
    copyFileSync(path, `${path}.kept`);
    await reserved(two.records, '1', 'late');
  }
  copyFileSync(`${path}.kept`, path);
  await expect(one.records.reserve(request('1', 'late'))).rejects.toMatchObject(TOO_OLD);
  expect(one.warnings).toEqual([expect.stringContaining('may lack orders')]);
});

test('a file that was moved away and back counts as a loss, because the file in between had other orders', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'orders.db');
  await using one = await openRecords(path);
  await reserved(one.records, '1', 'early');
  renameSync(path, `${path}.moved`);
  {
    await using two = await openRecords(path);
    await eventually(() => two.records.status.sinceMs !== null);
    await using later = await openRecords(path, { aheadMs: () => MINUTE_MS });
    const order = madeIn('meanwhile', MINUTE_MS);
    expect(await later.records.reserve(order)).toMatchObject({ reserved: true });
  }
  renameSync(`${path}.moved`, path);
  const repeat = one.records.reserve(request('1', 'meanwhile'));
  await expect(repeat).rejects.toMatchObject(TOO_OLD);
});

test('a file that is removed or replaced during use is refused until it is restored', async () => {
  await using folder = await temporaryFolder();
  const path = await fileWithCopy(folder.path);
  await using one = await openRecords(path);
  renameSync(path, `${path}.moved`);
  const refused = { name: 'RecordsUnavailableError', earlierUnknown: true };
  await expect(one.records.reserve(request('1', 'new'))).rejects.toMatchObject(refused);
  copyFileSync(`${path}.kept`, path);
  await expect(one.records.reserve(request('1', 'new'))).rejects.toMatchObject(refused);
  expect(one.records.status.degradedReason).toContain('was removed or replaced');
  renameSync(`${path}.moved`, path);
  await eventually(() => one.records.status.degradedReason === null);
  await reserved(one.records, '1', 'new');
});

test('the loss of a file that is restored together with its mark must be declared by an operator', async () => {
  await using folder = await temporaryFolder();
  const path = await fileWithCopy(folder.path);
  for (const each of [path, `${path}.mark`]) copyFileSync(`${each}.kept`, each);
  {
    using operator = operatorOf(path);
    await operator.declareIncomplete();
  }
  await using one = await openRecords(path);
  await expect(one.records.reserve(request('1', 'late1'))).rejects.toMatchObject(TOO_OLD);
  // The loss is no news to a process that starts after it.
  expect(one.records.status.losses).toBe(0);
});

test('a file of another version is refused in one line, also while it is in use', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'orders.db');
  const setVersion = (version: number) => {
    using database = new DatabaseSync(path);
    database.exec(`PRAGMA user_version = ${version}`);
  };
  const message = 'another version of this program has written it: move it away';
  await using one = await openRecords(path);
  await reserved(one.records, '1', 'k');
  for (const version of [4, 6]) {
    setVersion(version);
    await expect(openRecords(path)).rejects.toThrow(message);
    await eventually(() => one.records.status.degradedReason?.includes(message) === true);
    await expect(one.records.reserve(request('1', 'new'))).rejects.toThrow(message);
  }
  setVersion(5);
  await eventually(() => one.records.status.degradedReason === null);
  await reserved(one.records, '1', 'new');
});

test('a kill loses no order that may have been sent, and does not count as a loss', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'orders.db');
  const log = join(folder.path, 'log');
  const lines = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);
  for (let round = 0; round < 6; round += 1) {
    // Two processes use one file, and are killed together.
    const children = ['a', 'b'].map((name) => {
      const args = [join(import.meta.dirname, 'buying-child.ts'), path, log, `${round}${name}`];
      return spawn(process.execPath, args, { stdio: 'inherit' });
    });
    // The kills happen after different numbers of orders.
    const minOrders = 10 + round;
    const orders = () => lines().filter((line) => line.startsWith(`${round}`));
    await eventually(() => orders().length >= minOrders);
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(children.map((child) => once(child, 'exit')));
  }
  await using one = await openRecords(path);
  expect(one.warnings).toEqual([]);
  expect(one.records.status.losses).toBe(0);
  for (const line of lines()) {
    const [name = '', key = ''] = line.split(' ');
    expect(name).not.toContain('warned');
    const repeat = await one.records.reserve({ ...request('1', name), key });
    expect(repeat).toMatchObject({ reserved: false });
  }
});
