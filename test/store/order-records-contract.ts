import { expect, test } from 'vitest';
import type { Account } from '../../src/lib/account.ts';
import type {
  OrderKey,
  OrderRecords,
  RecordedOutcome,
  Reservation,
} from '../../src/store/order-records.ts';
import { AccountRecordsFullError } from '../../src/store/refusals.ts';
import { accountNamed } from '../support/accounts.ts';
import { eventually } from '../support/eventually.ts';
import { keyOf } from '../support/order-keys.ts';

export type OpenedRecords = OrderRecords & AsyncDisposable;

export const accepted: RecordedOutcome = { kind: 'accepted', orderId: 'o-1', message: null };
export const rejected: RecordedOutcome = { kind: 'rejected', error: 'NO', message: 'no "way"\n' };
const unsent: RecordedOutcome = { kind: 'rejected', error: 'EXPIRED', message: '', sent: false };
export const unknown: RecordedOutcome = { kind: 'unknown', sentAtMs: 5, message: null };

const asked = {
  requestId: 'r-1',
  kind: 'MARKET',
  symbol: 'EURUSD',
  side: 'BUY',
  size: { by: 'units', value: 3 },
  price: null,
  stopLoss: null,
  takeProfit: { by: 'price', value: 1.25 },
} as const;

/** The request of an order whose key has this name. */
export function request(account: string | Account, name: string, pendingMs = 60_000) {
  return {
    account: accountNamed(account),
    key: keyOf(name),
    asked,
    inputDigest: `canonical of ${name}`,
    reservedAtMs: Date.now(),
    pendingMs,
  };
}

/** The key with this name of an account. */
export function keyFor(account: string, name: string): OrderKey {
  return { account: accountNamed(account), key: keyOf(name) };
}

export async function reserved(
  records: OrderRecords,
  account: string | Account,
  key: string,
  pendingMs?: number,
): Promise<Reservation> {
  const answer = await records.reserve(request(account, key, pendingMs));
  if (!answer.reserved) throw new Error(`${key} is reserved already`);
  return answer.reservation;
}

/** Expects that the call is refused because the account has too many records. */
export async function expectFull(call: Promise<unknown>, message: string): Promise<void> {
  await expect(call).rejects.toMatchObject({ name: 'AccountRecordsFullError', message });
}

/** The tests that every store of order records must pass. */
export function itKeepsOrderRecords(
  open: (max: number, maxPerAccount?: number) => Promise<OpenedRecords>,
): void {
  test('a key is reserved once, and a repeat receives the pending record', async () => {
    await using records = await open(10);
    expect(await records.find(accountNamed('1'), keyOf('k'))).toBe(null);
    const first = request('1', 'k', 3_600_000);
    expect(await records.reserve(first)).toMatchObject({ reserved: true, reservation: first });
    const repeat = await records.reserve({ ...first, inputDigest: 'other', reservedAtMs: 0 });
    expect(repeat).toMatchObject({
      reserved: false,
      record: { inputDigest: first.inputDigest, reservedAtMs: first.reservedAtMs, outcome: null },
    });
    const leftMs = repeat.reserved ? 0 : repeat.record.pendingMs;
    expect(leftMs).toBeGreaterThan(3_000_000);
    expect(leftMs).toBeLessThanOrEqual(3_600_000);
  });

  test('concurrent requests with one key get one record, and with many keys at most the account’s share', async () => {
    await using records = await open(100, 5);
    const withOneKey = Array.from({ length: 50 }, () => records.reserve(request('1', 'k')));
    const answers = await Promise.all(withOneKey);
    expect(answers.filter(({ reserved }) => reserved)).toHaveLength(1);
    const withKeys = Array.from({ length: 20 }, (_, n) => records.reserve(request('1', `k${n}`)));
    const results = await Promise.allSettled(withKeys);
    // The account may have five records, and has one already.
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    await eventually(() => expect(records.status.count).toBe(5));
  });

  test('an outcome is kept, and a repeat receives it', async () => {
    await using records = await open(10);
    for (const outcome of [accepted, rejected, unknown]) {
      const key = outcome.kind;
      await records.settle(await reserved(records, '1', key), outcome);
      expect(await records.find(accountNamed('1'), keyOf(key))).toMatchObject({
        outcome,
        pendingMs: 0,
      });
      const repeat = await records.reserve(request('1', key));
      expect(repeat).toMatchObject({ reserved: false, record: { outcome } });
    }
    // A late answer replaces an unknown outcome, but no known outcome. An order with an outcome is never released.
    const late = await reserved(records, '1', 'late');
    await records.settle(late, unknown);
    await records.release(late);
    expect(await records.find(accountNamed('1'), keyOf('late'))).toMatchObject({
      outcome: unknown,
    });
    for (const outcome of [accepted, rejected, unknown]) await records.settle(late, outcome);
    await records.release(late);
    expect(await records.find(accountNamed('1'), keyOf('late'))).toMatchObject({
      outcome: accepted,
    });
  });

  test('an order past its deadline is not released, because a client may have read that the order is unknown', async () => {
    await using records = await open(10);
    const overdue = await reserved(records, '1', 'k', -1);
    await records.release(overdue);
    expect(await records.find(accountNamed('1'), keyOf('k'))).toMatchObject({ id: overdue.id });
  });

  test('a released key is free, and its old reservation cannot change the new reservation', async () => {
    await using records = await open(10);
    const old = await reserved(records, '1', 'k');
    await records.release(old);
    expect(await records.find(accountNamed('1'), keyOf('k'))).toBe(null);
    const current = await reserved(records, '1', 'k');
    await records.release(old);
    await records.settle(old, accepted);
    expect(await records.find(accountNamed('1'), keyOf('k'))).toMatchObject({
      id: current.id,
      outcome: null,
    });
  });

  test('accounts do not collide', async () => {
    await using records = await open(50);
    const accounts = ['1', '11', '1:a', '1 ', '..', '1\n', '\u00fc', 'u\u0308', '{1}'];
    for (const account of accounts) {
      for (const key of ['a', 'b']) await reserved(records, account, key);
    }
    await eventually(() => expect(records.status.count).toBe(2 * accounts.length));
  });

  test('a record’s pending time ends, and the record is kept', async () => {
    await using records = await open(10);
    await reserved(records, '1', 'k', 30);
    await expect
      .poll(async () => (await records.find(accountNamed('1'), keyOf('k')))?.pendingMs)
      .toBe(0);
    expect(await records.reserve(request('1', 'k'))).toMatchObject({ reserved: false });
  });

  test('a full store refuses new keys and drops no record', async () => {
    await using records = await open(10);
    const kept: Reservation[] = [];
    for (let n = 0; n < 7; n += 1) kept.push(await reserved(records, '1', `k${n}`));
    expect(records.status.degradedReason).toBe(null);
    for (let n = 7; n < 10; n += 1) kept.push(await reserved(records, '2', `k${n}`));
    await eventually(() => expect(records.status.degradedReason).not.toBe(null));
    await expect(records.reserve(request('3', 'new'))).rejects.toMatchObject({
      earlierUnknown: false,
    });
    expect(await records.find(accountNamed('3'), keyOf('new'))).toBe(null);
    for (const order of kept) {
      const { id } = order;
      expect(await records.reserve(order)).toMatchObject({ record: { id } });
    }
    await records.release(kept[0] as Reservation);
    await reserved(records, '3', 'new');
  });

  test('a full store removes the oldest rejected orders to make room for other accounts', async () => {
    await using records = await open(10, 3);
    for (const login of ['1', '2', '3']) {
      for (const key of ['k1', 'k2', 'k3']) {
        await records.settle(await reserved(records, login, key), rejected);
      }
    }
    await reserved(records, '4', 'pending');
    await eventually(() => expect(records.status.count).toBe(10));
    for (const key of ['a', 'b']) await reserved(records, 'another', key);
    expect(records.status.degradedReason).toBe(null);
    await eventually(() => expect(records.status.count).toBe(10));
    // The two oldest rejected orders made room for `a` and `b`.
    const found = await Promise.all(
      ['k1', 'k2', 'k3'].map((key) =>
        records.find(accountNamed('1'), keyOf(key)).catch(() => 'too old'),
      ),
    );
    expect(found).toEqual(['too old', 'too old', expect.objectContaining({ outcome: rejected })]);
    expect(await records.find(accountNamed('4'), keyOf('pending'))).not.toBe(null);
  });

  test('an account with a full share loses only rejected orders, whose repeats are refused by the time of their keys', async () => {
    await using records = await open(100, 4);
    const outcomes = { accepted, rejected, unsent, unknown };
    for (const [key, outcome] of Object.entries(outcomes)) {
      const answer = await records.reserve(request('1', key));
      if (answer.reserved) await records.settle(answer.reservation, outcome);
    }
    await reserved(records, '2', 'another account');
    await reserved(records, '1', 'new');
    // Only a rejection by the gateway makes room, so the record `unsent` of an order that was never sent is kept.
    for (const key of ['accepted', 'unsent', 'unknown', 'new']) {
      expect(await records.find(accountNamed('1'), keyOf(key))).not.toBe(null);
    }
    // Any unknown key may belong to the removed record, so the key `other` is refused too.
    for (const key of ['rejected', 'other']) {
      const repeat = records.reserve(request('1', key));
      await expect(repeat).rejects.toMatchObject({ name: 'KeyTooOldError' });
    }
    expect(await records.reserve(request('2', 'rejected'))).toMatchObject({ reserved: true });
    // Three seconds are added to the time of the removal.
    const after = { ...request('1', 'x'), key: keyOf('x', Date.now() + 1_900) };
    await expect(records.reserve(after)).rejects.toMatchObject({ name: 'KeyTooOldError' });
  });

  test('a key older than a record’s life is refused, and so is one whose time is more than two seconds ahead', async () => {
    await using records = await open(10);
    const at = (name: string, aheadMs: number) => ({
      ...request('1', name),
      key: keyOf(name, Date.now() + aheadMs),
    });
    const old = at('old', -25 * 3_600_000);
    const ahead = at('ahead', 60_000);
    for (const [order, error] of [
      [old, { name: 'KeyTooOldError', earlierUnknown: true }],
      [ahead, { name: 'KeyAheadError', earlierUnknown: false }],
    ] as const) {
      await expect(records.reserve(order)).rejects.toMatchObject(error);
      await expect(records.find(order.account, order.key)).rejects.toMatchObject(error);
      await expect(records.voidKey(order)).rejects.toMatchObject(error);
    }
    const young = at('young', 1_000);
    expect(await records.reserve(young)).toMatchObject({ reserved: true });
    expect(await records.reserve(young)).toMatchObject({ reserved: false });
  });

  test('a record has the requested order', async () => {
    await using records = await open(10);
    const order = await reserved(records, '1', 'k');
    expect(await records.find(order.account, keyOf('k'))).toMatchObject({ asked });
    await records.settle(order, unknown);
    await records.settle(order, accepted);
    expect(await records.find(order.account, keyOf('k'))).toMatchObject({ asked });
    const { record } = await records.voidKey(keyFor('1', 'voided'));
    expect(record).toMatchObject({ asked: null });
  });

  test('only an account with a full share is refused, until one of its records is removed', async () => {
    await using records = await open(20, 3);
    const kept = [
      await reserved(records, '1', 'accepted'),
      await reserved(records, '1', 'unknown'),
    ] as const;
    await records.settle(kept[0], accepted);
    await records.settle(kept[1], unknown);
    const pending = await reserved(records, '1', 'pending');
    const refused = records.reserve(request('1', 'new'));
    await expectFull(refused, 'all 3 order records of this account are in use');
    expect(await records.find(accountNamed('1'), keyOf('new'))).toBe(null);
    expect(records.status.degradedReason).toBe(null);
    for (const account of ['11', '2', '1:']) await reserved(records, account, 'new');
    // Requests with keys that have records are still answered.
    for (const order of [...kept, pending]) {
      const { id } = order;
      expect(await records.reserve(order)).toMatchObject({ record: { id } });
    }
    await records.release(pending);
    await reserved(records, '1', 'new');
    await expect(records.reserve(request('1', 'newer'))).rejects.toThrow(AccountRecordsFullError);
  });
}
