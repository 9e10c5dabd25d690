import { expect, test } from 'vitest';
import { AccountRecordsFullError, RecordsUnavailableError } from '../../src/store/refusals.ts';
import { accountNamed } from '../support/accounts.ts';
import { eventually } from '../support/eventually.ts';
import { keyOf } from '../support/order-keys.ts';
import {
  accepted,
  expectFull,
  keyFor,
  type OpenedRecords,
  rejected,
  request,
  reserved,
  unknown,
} from './order-records-contract.ts';

const VOIDED = { kind: 'rejected', error: 'VOIDED', message: null, sent: false };

/** The tests about voids that every store must pass. Once a key is voided, no order with this key is sent. */
export function itVoidsKeys(
  open: (max: number, maxPerAccount?: number) => Promise<OpenedRecords>,
): void {
  test('after the void of an unused key, orders, queries and later voids receive its record', async () => {
    await using records = await open(100);
    const { voided, record } = await records.voidKey(keyFor('1', 'k'));
    expect(voided).toBe(true);
    expect(record).toMatchObject({ outcome: VOIDED, inputDigest: '', pendingMs: 0 });
    expect(await records.reserve(request('1', 'k'))).toEqual({ reserved: false, record });
    expect(await records.find(accountNamed('1'), keyOf('k'))).toEqual(record);
    expect(await records.voidKey(keyFor('1', 'k'))).toEqual({ voided: false, record });
    await reserved(records, '2', 'k');
    await eventually(() => expect(records.status.count).toBe(2));
    // A voided key has no order that could be released or settled.
    const reservation = { ...request('1', 'k'), id: record.id };
    await records.release(reservation);
    await records.settle(reservation, accepted);
    expect(await records.find(accountNamed('1'), keyOf('k'))).toEqual(record);
  });

  test('a used key cannot be voided, whatever outcome its order has, but a released key can', async () => {
    await using records = await open(100);
    const pending = await reserved(records, '1', 'pending');
    const answer = await records.voidKey(keyFor('1', 'pending'));
    expect(answer).toMatchObject({ voided: false, record: { id: pending.id, outcome: null } });
    expect(answer.record.pendingMs).toBeGreaterThan(50_000);
    for (const outcome of [accepted, rejected, unknown]) {
      await records.settle(await reserved(records, '1', outcome.kind), outcome);
      const used = await records.voidKey(keyFor('1', outcome.kind));
      expect(used).toMatchObject({ voided: false, record: { outcome } });
    }
    await records.settle(pending, accepted);
    expect(await records.find(accountNamed('1'), keyOf('pending'))).toMatchObject({
      outcome: accepted,
    });
    const former = await reserved(records, '1', 'k');
    await records.release(former);
    const { record } = await records.voidKey(keyFor('1', 'k'));
    // The former reservation changes nothing.
    await records.release(former);
    await records.settle(former, accepted);
    expect(await records.find(accountNamed('1'), keyOf('k'))).toEqual(record);
  });

  test('one of many concurrent orders and voids gets the key, and all receive its record', async () => {
    await using records = await open(100);
    for (const key of ['k1', 'k2', 'k3', 'k4']) {
      // Every third request is a void.
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          n % 3 === 0 ? records.voidKey(keyFor('1', key)) : records.reserve(request('1', key)),
        ),
      );
      const ids = answers.map((answer) =>
        'reservation' in answer ? answer.reservation.id : answer.record.id,
      );
      expect(new Set(ids).size).toBe(1);
      const successes = answers.filter((answer) =>
        'voided' in answer ? answer.voided : answer.reserved,
      );
      expect(successes).toHaveLength(1);
    }
  });

  test('records of orders that were never sent use at most half of their account’s share', async () => {
    await using records = await open(100, 4);
    await records.voidKey(keyFor('1', 'k1'));
    const late = await records.reserve({ ...request('1', 'k2'), isNeverSent: true });
    const message = 'all 2 records of orders that were never sent of this account are in use';
    await expectFull(records.voidKey(keyFor('1', 'k3')), message);
    await expectFull(records.reserve({ ...request('1', 'k3'), isNeverSent: true }), message);
    expect(await records.find(accountNamed('1'), keyOf('k3'))).toBe(null);
    expect(await records.voidKey(keyFor('1', 'k1'))).toMatchObject({ voided: false });
    expect(await records.voidKey(keyFor('2', 'k3'))).toMatchObject({ voided: true });
    if (late.reserved) await records.release(late.reservation);
    expect(await records.voidKey(keyFor('1', 'k3'))).toMatchObject({ voided: true });
    for (const key of ['o1', 'o2']) await reserved(records, '1', key);
    await expect(records.reserve(request('1', 'more'))).rejects.toThrow('all 4 order records');
  });

  test('a key of which an order may have been forgotten is voided, but its void is never confirmed', async () => {
    await using records = await open(100);
    const old = { ...request('1', 'old'), key: keyOf('old', Date.now() - 24 * 3_600_000) };
    const tooOld = { name: 'KeyTooOldError', earlierUnknown: true };
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await expect(records.voidKey(old)).rejects.toMatchObject(tooOld);
      await eventually(() => expect(records.status.count).toBe(1));
      await expect(records.find(old.account, old.key)).rejects.toMatchObject(tooOld);
      await expect(records.reserve(old)).rejects.toMatchObject(tooOld);
    }
  });

  test('a key is not voided if there is no room for its record', async () => {
    await using records = await open(4, 3);
    for (const key of ['k1', 'k2', 'k3']) await reserved(records, '1', key);
    await reserved(records, '2', 'k');
    const full = await records.voidKey(keyFor('3', 'k')).catch((error: unknown) => error);
    expect(full).toBeInstanceOf(RecordsUnavailableError);
    expect(full).not.toBeInstanceOf(AccountRecordsFullError);
    expect(await records.find(accountNamed('3'), keyOf('k'))).toBe(null);
    expect(await records.voidKey(keyFor('1', 'k1'))).toMatchObject({ voided: false });
  });
}
