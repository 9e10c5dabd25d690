import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../lib/clock.ts';
import {
  AccountRecordsFullError,
  RecordsUnavailableError,
} from '../../../src/store/order-records.ts';
import { operatorFile } from '../../../src/store/sqlite/operator-records.ts';
import { openSqliteOrderRecords } from '../../../src/store/sqlite/order-records.ts';
import { accountNamed } from '../../support/accounts.ts';
import { eventually } from '../../support/eventually.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { accepted, request, reserved } from '../order-records-contract.ts';
import { itIsAStoreOfOrderRecords } from '../store-contract.ts';
import { voidRequest } from '../void-contract.ts';

async function openRecords(
  max = 1_000,
  maxPerAccount = max,
  onNearlyFull = () => {},
  clock: Clock = systemClock,
) {
  const folder = mkdtempSync(join(tmpdir(), 'trading-graph-sqlite-'));
  const path = join(folder, 'orders.db');
  const warnings: string[] = [];
  const open = () =>
    openSqliteOrderRecords({
      path,
      max,
      maxPerAccount,
      onNearlyFull,
      clock,
      onWarn: (message) => warnings.push(message),
    });
  const records = await open();
  return {
    folder,
    path,
    warnings,
    records,
    open,
    async [Symbol.asyncDispose]() {
      await records.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Sets how large a file this process may write, in place of a disk that is full. */
function limitedFiles() {
  const limit = (bytes: number | 'unlimited') =>
    execFileSync('prlimit', ['--pid', `${process.pid}`, `--fsize=${bytes}:`]);
  return { limit, [Symbol.dispose]: () => void limit('unlimited') };
}

describe('order records in SQLite', () => {
  const openAlone = async (...bounds: Parameters<typeof openRecords>) => {
    const opened = await openRecords(...bounds);
    return { ...opened.records, [Symbol.asyncDispose]: opened[Symbol.asyncDispose] };
  };
  itIsAStoreOfOrderRecords(openAlone, async () => {
    const opened = await openRecords(2_000);
    const { path } = opened;
    const other = await opened.open();
    const operator = operatorFile({ path, max: 2_000, onWarn() {} });
    return {
      replicas: [opened.records, other],
      operator,
      async [Symbol.asyncDispose]() {
        operator.close();
        await other.close();
        await opened[Symbol.asyncDispose]();
      },
    };
  });

  test('that wait together share one commit, which each of them waits for', async () => {
    await using opened = await openRecords();
    // SQLite's own count of commits.
    const commits = () => readFileSync(opened.path).readUInt32BE(24);
    const before = commits();
    // Another connection reads what is committed.
    const other = new DatabaseSync(opened.path, { readOnly: true, timeout: 5_000 });
    const find = other.prepare('SELECT outcome FROM orders WHERE key = ?');
    await Promise.all(
      Array.from({ length: 300 }, async (_, n) => {
        const reservation = await reserved(opened.records, '1', `k${n}`);
        expect(find.get(`k${n}`)).toEqual({ outcome: null });
        await opened.records.settle(reservation, accepted);
        expect(find.get(`k${n}`)).toEqual({ outcome: JSON.stringify(accepted) });
      }),
    );
    expect(commits() - before).toBeLessThan(12);
    other.close();
  });

  test('write down what waits for the thread when they are closed', async () => {
    await using opened = await openRecords();
    const { records } = opened;
    const reservation = await reserved(records, '1', 'k');
    const asked = [records.find(accountNamed('1'), 'other'), records.settle(reservation, accepted)];
    await records.close();
    expect(records.degradedReason()).toContain('has ended');
    await Promise.all(asked);
    await expect(records.find(accountNamed('1'), 'k')).rejects.toThrow('are closed');
    const next = await opened.open();
    expect(await next.find(accountNamed('1'), 'k')).toMatchObject({ outcome: accepted });
    await next.close();
  });

  test('answer a question in time and say that they are late, though their thread hangs', async () => {
    const clock = createScriptedClock();
    await using opened = await openRecords(10, 10, () => {}, clock);
    const { records } = opened;
    const other = new DatabaseSync(opened.path);
    other.exec('BEGIN EXCLUSIVE');
    const found = records.find(accountNamed('1'), 'k').catch(String);
    await clock.advance(6_000);
    expect(await found).toContain('take too long to answer');
    expect(records.degradedReason()).toContain('take too long to answer');
    other.exec('ROLLBACK');
    other.close();
    await eventually(async () => {
      await clock.advance(1_000);
      return records.degradedReason() === null;
    });
    expect(await records.find(accountNamed('1'), 'k')).toBe(null);
  });

  test.each([
    ['removed', (path: string) => rmSync(path)],
    [
      'replaced',
      (path: string) => {
        copyFileSync(path, `${path}.copy`);
        renameSync(`${path}.copy`, path);
      },
    ],
  ])('take no order after their file was %s', async (_, harm) => {
    await using opened = await openRecords();
    const { records } = opened;
    const earlier = await reserved(records, '1', 'earlier');
    harm(opened.path);
    await expect(records.reserve(request('1', 'new'))).rejects.toMatchObject({
      message: expect.stringContaining('was removed or replaced'),
      earlierUnknown: true,
    });
    await expect(records.find(accountNamed('1'), 'earlier')).rejects.toThrow(
      RecordsUnavailableError,
    );
    await expect(records.settle(earlier, accepted)).rejects.toThrow(RecordsUnavailableError);
    expect(records.degradedReason()).toContain('was removed or replaced: put it back, or restart');
    expect(opened.warnings).toHaveLength(1);
  });

  test('report without an order that their file is missing, and take orders when it is back', async () => {
    await using opened = await openRecords();
    const { records } = opened;
    const earlier = await reserved(records, '1', 'earlier');
    renameSync(opened.path, `${opened.path}.old`);
    await eventually(() => records.degradedReason() !== null);
    renameSync(`${opened.path}.old`, opened.path);
    await eventually(() => expect(records.degradedReason()).toBe(null));
    await records.settle(earlier, accepted);
    expect(await records.find(accountNamed('1'), 'earlier')).toMatchObject({ outcome: accepted });
    expect(opened.warnings).toEqual([
      expect.stringContaining('was removed or replaced'),
      expect.stringContaining('can be used again'),
    ]);
  });

  test('wait for another program that locks the file, and refuse where that takes long', async () => {
    await using opened = await openRecords();
    const { records } = opened;
    const other = new DatabaseSync(opened.path);
    other.exec('BEGIN EXCLUSIVE');
    const refused = await records.reserve(request('1', 'k')).catch((error: unknown) => error);
    expect(String(refused)).toContain('is locked by another program: end that program');
    const waiting = records.reserve(request('1', 'k'));
    other.exec('ROLLBACK');
    expect(await waiting).toMatchObject({ reserved: true });
    expect(records.degradedReason()).toBe(null);
    other.close();
  });

  test('are refused while the disk is full, and taken when there is room', async () => {
    await using opened = await openRecords();
    const { records, warnings } = opened;
    await reserved(records, '1', 'earlier');
    using files = limitedFiles();
    files.limit(0);
    const isFull = /cannot (grow|be read or written)/;
    // Of a key that is not written, it is said that nothing was before; what is written answers.
    await expect(records.reserve(request('1', 'new'))).rejects.toMatchObject({
      message: expect.stringMatching(isFull),
      earlierUnknown: false,
    });
    await expect(records.voidKey(voidRequest('1', 'new'))).rejects.toThrow(isFull);
    expect(await records.find(accountNamed('1'), 'new')).toBe(null);
    expect(await records.find(accountNamed('1'), 'earlier')).not.toBe(null);
    expect(await records.reserve(request('1', 'earlier'))).toMatchObject({ reserved: false });
    expect(await records.voidKey(voidRequest('1', 'earlier'))).toMatchObject({ voided: false });
    // That it can be read says nothing about the next order.
    expect(records.degradedReason()).toMatch(isFull);
    expect(warnings).toHaveLength(1);
    files.limit('unlimited');
    // Nor is the file a copy because a commit that failed has changed it.
    await (await opened.open()).close();
    await eventually(() => expect(records.degradedReason()).toBe(null));
    expect(warnings).toEqual([
      expect.stringMatching(isFull),
      expect.stringContaining('can be used again'),
    ]);
    expect(await records.reserve(request('1', 'new'))).toMatchObject({ reserved: true });
  });
});

test('two that share a file share the bound of an account, over a restart of both', async () => {
  await using opened = await openRecords(100, 4);
  const other = await opened.open();
  const both = [opened.records, other];
  for (let n = 0; n < 4; n += 1) {
    const answer = await both[n % 2]?.reserve(request('1', `k${n}`));
    expect(answer).toMatchObject({ reserved: true });
  }
  for (const records of both) {
    await expect(records.reserve(request('1', 'new'))).rejects.toThrow('of this account');
  }
  expect(await other.reserve(request('2', 'new'))).toMatchObject({ reserved: true });
  for (const records of both) await records.close();
  const next = await opened.open();
  await expect(next.reserve(request('1', 'new'))).rejects.toThrow(AccountRecordsFullError);
  await next.close();
});
