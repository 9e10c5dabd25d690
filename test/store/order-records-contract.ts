import { expect, test } from 'vitest';
import { toToken } from '../../lib/token.ts';
import {
  AccountRecordsFullError,
  type OrderRecords,
  type RecordedOutcome,
  RecordsFullError,
  type Reservation,
} from '../../src/store/order-records.ts';
import { accountNamed } from '../support/accounts.ts';

export type OpenedRecords = OrderRecords & AsyncDisposable;

export const accepted: RecordedOutcome = { kind: 'accepted', orderId: 'o-1', message: null };
export const rejected: RecordedOutcome = { kind: 'rejected', error: 'NO', message: 'no "way"\n' };
const unsent: RecordedOutcome = { kind: 'rejected', error: 'EXPIRED', message: '', sent: false };
export const unknown: RecordedOutcome = { kind: 'unknown', sentAtMs: 5, message: null };

/** Each by a token of its own where the test names none. */
export function request(account: string, key: string, pendingMs = 60_000, token = key) {
  return {
    account: accountNamed(account),
    key,
    tokenHash: toToken(token).hash,
    inputDigest: `canonical of ${key}`,
    reservedAtMs: Date.now(),
    pendingMs,
  };
}

export async function reserved(
  records: OrderRecords,
  account: string,
  key: string,
  pendingMs?: number,
): Promise<Reservation> {
  const answer = await records.reserve(request(account, key, pendingMs));
  if (!answer.reserved) throw new Error(`${account}/${key} is held already`);
  return answer.reservation;
}

/** It is refused for want of room that comes with the end of a record's day. */
export async function expectFull(asked: Promise<unknown>, message: string): Promise<void> {
  const refused = await asked.catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(AccountRecordsFullError);
  expect(refused).toMatchObject({ message });
  const { retryAfterSeconds } = refused as AccountRecordsFullError;
  expect(retryAfterSeconds).toBeGreaterThan(86_300);
  expect(retryAfterSeconds).toBeLessThanOrEqual(86_400);
}

/** The contract of every store of order records. */
export function itKeepsOrderRecords(
  open: (max: number, maxPerAccount?: number) => Promise<OpenedRecords>,
): void {
  test('a key is reserved once, and a repeat is shown the pending record', async () => {
    await using records = await open(10);
    expect(await records.find(accountNamed('1'), 'k')).toBe(null);
    const asked = request('1', 'k', 3_600_000);
    const { tokenHash: _, ...reservation } = asked;
    expect(await records.reserve(asked)).toMatchObject({ reserved: true, reservation });
    const repeat = await records.reserve({ ...asked, inputDigest: 'other', reservedAtMs: 0 });
    expect(repeat).toMatchObject({
      reserved: false,
      record: { inputDigest: asked.inputDigest, reservedAtMs: asked.reservedAtMs, outcome: null },
    });
    const left = repeat.reserved ? 0 : repeat.record.pendingMs;
    expect(left).toBeGreaterThan(3_000_000);
    expect(left).toBeLessThanOrEqual(3_600_000);
  });

  test('of many concurrent requests one gets the key, and all together no more than the share of their account', async () => {
    await using records = await open(100, 5);
    const ofOneKey = Array.from({ length: 50 }, () => records.reserve(request('1', 'k')));
    const answers = await Promise.all(ofOneKey);
    expect(answers.filter(({ reserved }) => reserved)).toHaveLength(1);
    const ofMany = Array.from({ length: 20 }, (_, n) => records.reserve(request('1', `k${n}`)));
    const ends = await Promise.allSettled(ofMany);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    expect(records.held()).toBe(5);
  });

  test('an outcome stays, and a repeat gets it', async () => {
    await using records = await open(10);
    for (const outcome of [accepted, rejected, unknown]) {
      const key = outcome.kind;
      await records.settle(await reserved(records, '1', key), outcome);
      expect(await records.find(accountNamed('1'), key)).toMatchObject({ outcome, pendingMs: 0 });
      const repeat = await records.reserve(request('1', key));
      expect(repeat).toMatchObject({ reserved: false, record: { outcome } });
    }
    // A late answer replaces unknown, never the gateway's outcome, and an outcome is never released.
    const late = await reserved(records, '1', 'late');
    await records.settle(late, unknown);
    await records.release(late);
    expect(await records.find(accountNamed('1'), 'late')).toMatchObject({ outcome: unknown });
    for (const outcome of [accepted, rejected, unknown]) await records.settle(late, outcome);
    expect(await records.find(accountNamed('1'), 'late')).toMatchObject({ outcome: accepted });
  });

  test('a released key is free, and its old reservation cannot change the new one', async () => {
    await using records = await open(10);
    const old = await reserved(records, '1', 'k');
    await records.release(old);
    expect(await records.find(accountNamed('1'), 'k')).toBe(null);
    const current = await reserved(records, '1', 'k');
    await records.release(old);
    await records.settle(old, accepted);
    expect(await records.find(accountNamed('1'), 'k')).toMatchObject({
      id: current.id,
      outcome: null,
    });
  });

  test('accounts and odd keys do not meet', async () => {
    await using records = await open(50);
    const keys = ['a', 'A', ' a', 'a:b', 'b', '..', 'a\nb', 'a\u0000b', '\u00fc', 'u\u0308', '{x}'];
    for (const account of ['1', '11', '1:a']) {
      for (const key of [...keys, '🔑'.repeat(255)]) await reserved(records, account, key);
    }
    expect(records.held()).toBe(3 * (keys.length + 1));
  });

  test('the time a record may be pending runs out, and it stays', async () => {
    await using records = await open(10);
    await reserved(records, '1', 'k', 30);
    await expect.poll(async () => (await records.find(accountNamed('1'), 'k'))?.pendingMs).toBe(0);
    expect(await records.reserve(request('1', 'k'))).toMatchObject({ reserved: false });
  });

  test('a full store refuses new keys and forgets none', async () => {
    await using records = await open(10);
    const kept: Reservation[] = [];
    for (let n = 0; n < 7; n += 1) kept.push(await reserved(records, '1', `k${n}`));
    expect(records.degradedReason()).toBe(null);
    for (let n = 7; n < 10; n += 1) kept.push(await reserved(records, '2', `k${n}`));
    expect(records.degradedReason()).not.toBe(null);
    await expect(records.reserve(request('3', 'new'))).rejects.toMatchObject({
      earlierUnknown: false,
    });
    expect(await records.find(accountNamed('3'), 'new')).toBe(null);
    for (const { account, key, id } of kept) {
      expect(await records.reserve(request(account, key))).toMatchObject({ record: { id } });
    }
    await records.release(kept[0] as Reservation);
    await reserved(records, '3', 'new');
  });

  test('the last fifth is kept for accounts with few records', async () => {
    await using records = await open(50);
    for (const login of ['1', '2']) {
      for (let n = 0; n < 20; n += 1) await reserved(records, login, `k${n}`);
    }
    const refused = await records.reserve(request('1', 'new')).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RecordsFullError);
    const { retryAfterSeconds } = refused as RecordsFullError;
    expect(retryAfterSeconds).toBeGreaterThan(86_300);
    expect(retryAfterSeconds).toBeLessThanOrEqual(86_400);
    for (let n = 0; n < 10; n += 1) await reserved(records, `${3 + n}`, 'k');
    await expect(records.reserve(request('innocent', 'k'))).rejects.toThrow(RecordsFullError);
  });

  test('rejected orders fill half of their account’s share, and their keys stay used up', async () => {
    await using records = await open(100, 6);
    // What was never sent does not count among them.
    const outcomes = { a: rejected, b: rejected, c: unsent };
    for (const [key, outcome] of Object.entries(outcomes)) {
      const answer = await records.reserve(request('1', key, 60_000, key === 'c' ? 'c' : 'flood'));
      if (answer.reserved) await records.settle(answer.reservation, outcome);
    }
    await records.settle(await reserved(records, '1', 'd'), rejected);
    const message = 'all 3 order records of this account for rejected orders are in use';
    await expectFull(records.reserve(request('1', 'e', 60_000, 'flood')), message);
    const repeat = await records.reserve(request('1', 'a'));
    expect(repeat).toMatchObject({ record: { outcome: rejected } });
    // Another sign-in of the account, and another account.
    await reserved(records, '1', 'e');
    await reserved(records, '2', 'e');
  });

  test('an account that has its share is refused alone, and until one of its records is gone', async () => {
    await using records = await open(20, 3);
    const kept = [
      await reserved(records, '1', 'accepted'),
      await reserved(records, '1', 'rejected'),
    ] as const;
    await records.settle(kept[0], accepted);
    await records.settle(kept[1], rejected);
    const pending = await reserved(records, '1', 'pending');
    const asked = records.reserve(request('1', 'new'));
    await expectFull(asked, 'all 3 order records of this account are in use');
    expect(await records.find(accountNamed('1'), 'new')).toBe(null);
    expect(records.degradedReason()).toBe(null);
    for (const account of ['11', '2', '1:']) await reserved(records, account, 'new');
    // What the account has is answered, whatever became of it.
    for (const { account, key, id } of [...kept, pending]) {
      expect(await records.reserve(request(account, key))).toMatchObject({ record: { id } });
    }
    await records.release(pending);
    await reserved(records, '1', 'new');
    await expect(records.reserve(request('1', 'newer'))).rejects.toThrow(AccountRecordsFullError);
  });
}
