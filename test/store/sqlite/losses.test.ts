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
import { closingOf } from '../../../src/store/order-records.ts';
import { OperatorFile } from '../../../src/store/sqlite/operator-records.ts';
import { openSqliteOrderRecords } from '../../../src/store/sqlite/order-records.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/own-folder.ts';
import { accepted, request, reserved, unknown, voidRequest } from '../order-records-contract.ts';

const HOUR_MS = 3_600_000;

async function openRecords(path: string, gatewaySkewMs: () => number | null = () => 0) {
  const warnings: string[] = [];
  const records = await openSqliteOrderRecords({
    path,
    max: 1_000,
    clock: systemClock,
    gatewaySkewMs,
    onWarn: (message) => void warnings.push(message),
  });
  return { records, warnings, [Symbol.asyncDispose]: () => records.close() };
}

/** The request of an order whose key is made this long after now. A key made within a minute of a loss is refused. */
const madeIn = (key: string, aheadMs: number) => ({
  ...request('1', key),
  keyMadeMs: Date.now() + aheadMs,
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
      await using one = await openRecords(pathAfter, () => null);
      expect(one.warnings).toEqual([expect.stringMatching(/may lack orders/)]);
      // Until the gateway's clock is measured, all unknown keys are refused.
      await expect(one.records.reserve(madeIn('new', HOUR_MS))).rejects.toMatchObject({
        name: 'RecordsGapError',
        untilMs: null,
      });
      expect(one.records.status.gapReason).toContain('until the clock of the gateway is known');
    }
    await using one = await openRecords(pathAfter);
    expect(one.warnings).toEqual([]);
    for (const key of LATE_KEYS) {
      const repeat = await one.records.reserve(request('1', key)).catch((error: Error) => error);
      if (repeat instanceof Error) expect(repeat).toMatchObject({ name: 'RecordsGapError' });
      else expect(repeat).toMatchObject({ reserved: false });
    }
    await expect(one.records.reserve(request('1', 'without'))).rejects.toThrow('incomplete');
    await expect(one.records.reserve(madeIn('x', 30_000))).rejects.toThrow('incomplete');
    await expect(one.records.find(request('1', 'x').account, 'x')).rejects.toThrow('incomplete');
    expect(await one.records.reserve(madeIn('y', 90_000))).toMatchObject({ reserved: true });
    // A key can still be voided. Its record states that the records remember nothing from before the void.
    const { voided, record } = await one.records.voidKey(voidRequest('1', 'void'));
    expect(voided).toBe(true);
    expect(closingOf(record)?.rememberedMs).toBe(0);
  },
);

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
    await expect(one.records.find(request('1', 'before').account, 'before')).rejects.toThrow();
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
    expect(await one.records.reserve(madeIn('between', 90_000))).toMatchObject({ reserved: true });
  }
  copyFileSync(`${path}.later`, path);
  await using one = await openRecords(path);
  expect(one.warnings).toEqual([expect.stringContaining('may lack orders')]);
  await expect(one.records.reserve(request('1', 'between'))).rejects.toThrow('incomplete');
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
  await expect(one.records.reserve(request('1', 'k'))).rejects.toThrow('incomplete');
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
      expect((await operator.status()).gapReason).toBe(null);
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
    expect((await operator.status()).gapReason).toContain('incomplete');
  }
  await using one = await openRecords(path);
  await expect(one.records.reserve(request('1', 'late1'))).rejects.toThrow('incomplete');
});

test.each([
  ['an order', false],
  ['a query', true],
])('a copy written over a file in use is detected by %s', async (_, isQuery) => {
  await using folder = await temporaryFolder();
  const path = await fileWithCopy(folder.path);
  await using one = await openRecords(path);
  const pending = await reserved(one.records, '1', 'before');
  copyFileSync(`${path}.kept`, path);
  const { account } = pending;
  if (isQuery) await expect(one.records.find(account, 'late1')).rejects.toThrow('incomplete');
  for (const key of [...LATE_KEYS, 'before']) {
    await expect(one.records.reserve(request('1', key))).rejects.toThrow('incomplete');
  }
  expect(one.warnings).toEqual([expect.stringContaining('may lack orders')]);
  // The process writes the outcome back, although the order's record is lost.
  await one.records.settle(pending, unknown);
  await one.records.settle(pending, accepted);
  expect(await one.records.find(account, 'before')).toMatchObject({
    id: pending.id,
    outcome: accepted,
    asked: pending.asked,
  });
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
  await expect(one.records.reserve(request('1', 'late'))).rejects.toThrow('incomplete');
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
    expect(await two.records.reserve(madeIn('meanwhile', 90_000))).toMatchObject({
      reserved: true,
    });
  }
  renameSync(`${path}.moved`, path);
  const repeat = one.records.reserve(request('1', 'meanwhile'));
  await expect(repeat).rejects.toMatchObject({ name: 'RecordsGapError' });
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
  await expect(one.records.reserve(request('1', 'late1'))).rejects.toThrow('incomplete');
  expect(one.records.status.gapReason).toContain('keys made before');
});

test('records of an earlier version count as lost', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'orders.db');
  {
    using old = new DatabaseSync(path);
    // The application id is `TGOR` in ASCII.
    old.exec(`CREATE TABLE orders (id INTEGER PRIMARY KEY, account TEXT); INSERT INTO orders VALUES (1, '1');
      CREATE TABLE state (writes INTEGER); PRAGMA application_id = 0x54474f52; PRAGMA user_version = 1`);
  }
  {
    await using one = await openRecords(path, () => null);
    expect(one.warnings).toEqual([expect.stringContaining('an earlier version')]);
    await expect(one.records.reserve(request('1', 'k'))).rejects.toThrow('incomplete');
  }
  await using one = await openRecords(path);
  expect(one.warnings).toEqual([]);
  await expect(one.records.reserve(request('1', 'k'))).rejects.toThrow('incomplete');
  await one.records.reserve(madeIn('k', 90_000));
});

test('a loss is over after a day', async () => {
  await using folder = await temporaryFolder();
  const path = await fileWithCopy(folder.path);
  copyFileSync(`${path}.kept`, path);
  /** Whether a key without a stated age is accepted this many hours later. */
  const acceptsAfter = async (hours: number) => {
    const clock = { ...systemClock, date: () => Date.now() + hours * HOUR_MS };
    const records = await openSqliteOrderRecords({
      path,
      max: 1_000,
      clock,
      gatewaySkewMs: () => 0,
      onWarn() {},
    });
    const answer = await records.reserve(request('1', `at ${hours}`)).catch(() => null);
    await records.close();
    return answer?.reserved ?? false;
  };
  expect(await acceptsAfter(0)).toBe(false);
  expect(await acceptsAfter(23.9)).toBe(false);
  expect(await acceptsAfter(24.1)).toBe(true);
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
  expect(one.records.status.gapReason).toBe(null);
  for (const key of lines()) {
    expect(key).not.toContain('warned');
    expect(await one.records.reserve(request('1', key))).toMatchObject({ reserved: false });
  }
});
