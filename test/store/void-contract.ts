import { expect, test } from 'vitest';
import {
  AccountRecordsFullError,
  AccountVoidsFullError,
  closingOf,
  type OrderRecords,
  RECORD_LIFE_MS,
  RecordsUnavailableError,
} from '../../src/store/order-records.ts';
import {
  accepted,
  type OpenedRecords,
  rejected,
  request,
  reserved,
  unknown,
} from './order-records-contract.ts';

export function voidRequest(login: string, key: string, keyAgeMs: number | null = 0) {
  return { login, key, atMs: Date.now(), keyAgeMs };
}

const VOIDED = { kind: 'rejected', error: 'VOIDED', message: null, sent: false };

/** Closes a key and returns how far back the store remembers. */
export async function rememberedMs(records: OrderRecords, key: string): Promise<number> {
  const { voided, record } = await records.voidKey(voidRequest('1', key));
  expect(voided).toBe(true);
  return closingOf(record)?.rememberedMs ?? Number.NaN;
}

/** The contract of every store about keys that are closed. */
export function itVoidsKeys(
  open: (max: number, maxPerAccount?: number) => Promise<OpenedRecords>,
): void {
  test('an unused key is closed, for orders, questions and whoever closes it again', async () => {
    await using opened = await open(100);
    const { records } = opened;
    const asked = voidRequest('1', 'k', 1_234);
    const first = await records.voidKey(asked);
    const closing = { keyAgeMs: 1_234, rememberedMs: expect.any(Number) };
    expect(first).toMatchObject({
      voided: true,
      record: {
        outcome: { ...VOIDED, closing },
        ...{ canonical: '', reservedAtMs: asked.atMs, pendingMs: 0 },
      },
    });
    const { record } = first;
    expect(await records.reserve(request('1', 'k'))).toEqual({ reserved: false, record });
    expect(await records.find('1', 'k')).toEqual(record);
    const again = await records.voidKey({ ...asked, keyAgeMs: null, atMs: 5 });
    expect(again).toEqual({ voided: false, record });
    await reserved(records, '2', 'k');
    expect(records.held()).toBe(2);
    // No order made it, and nothing replaces it.
    const reservation = { ...request('1', 'k'), id: record.id };
    await records.release(reservation);
    await records.settle(reservation, accepted);
    expect(await records.find('1', 'k')).toEqual(record);
  });

  test('a key of an unknown age counts as old as a record can be', async () => {
    await using opened = await open(100);
    const { record } = await opened.records.voidKey(voidRequest('1', 'k', null));
    expect(closingOf(record)?.keyAgeMs).toBe(RECORD_LIFE_MS);
    expect(closingOf(record)?.rememberedMs).toBeLessThan(60_000);
  });

  test('a used key is not closed, whatever became of it', async () => {
    await using opened = await open(100);
    const { records } = opened;
    const pending = await reserved(records, '1', 'pending');
    const answer = await records.voidKey(voidRequest('1', 'pending'));
    expect(answer).toMatchObject({ voided: false, record: { id: pending.id, outcome: null } });
    expect(answer.record.pendingMs).toBeGreaterThan(50_000);
    for (const outcome of [accepted, rejected, unknown]) {
      await records.settle(await reserved(records, '1', outcome.kind), outcome);
      const used = await records.voidKey(voidRequest('1', outcome.kind));
      expect(used).toMatchObject({ voided: false, record: { outcome } });
    }
    await records.settle(pending, accepted);
    expect(await records.find('1', 'pending')).toMatchObject({ outcome: accepted });
  });

  test('a key that was given back is closed, and its former reservation changes nothing', async () => {
    await using opened = await open(100);
    const { records } = opened;
    const former = await reserved(records, '1', 'k');
    await records.release(former);
    const { record } = await records.voidKey(voidRequest('1', 'k'));
    await records.release(former);
    await records.settle(former, accepted);
    expect(await records.find('1', 'k')).toEqual(record);
  });

  test('of many concurrent orders and voids one gets the key, and all see which', async () => {
    await using opened = await open(100);
    const { records } = opened;
    for (const key of ['k1', 'k2', 'k3', 'k4']) {
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          n % 3 === 0 ? records.voidKey(voidRequest('1', key)) : records.reserve(request('1', key)),
        ),
      );
      const ids = answers.map((answer) =>
        'reservation' in answer ? answer.reservation.id : answer.record.id,
      );
      expect(new Set(ids).size).toBe(1);
      const takers = answers.filter((answer) =>
        'voided' in answer ? answer.voided : answer.reserved,
      );
      expect(takers).toHaveLength(1);
    }
  });

  test('an account closes a tenth of its share, and its orders are taken beyond that', async () => {
    await using opened = await open(100, 20);
    const { records } = opened;
    await records.voidKey(voidRequest('1', 'k1'));
    await records.voidKey(voidRequest('1', 'k2'));
    const refused = await records.voidKey(voidRequest('1', 'k3')).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(AccountVoidsFullError);
    const { message, retryAfterSeconds } = refused as AccountVoidsFullError;
    expect(message).toBe('all 2 closed keys of this account are in use');
    expect(retryAfterSeconds).toBeGreaterThan(86_300);
    expect(retryAfterSeconds).toBeLessThanOrEqual(86_400);
    expect(await records.find('1', 'k3')).toBe(null);
    expect(await records.voidKey(voidRequest('1', 'k1'))).toMatchObject({ voided: false });
    expect(await records.voidKey(voidRequest('2', 'k3'))).toMatchObject({ voided: true });
    await records.release(await reserved(records, '1', 'k3'));
    for (let n = 0; n < 18; n += 1) await reserved(records, '1', `order ${n}`);
    await expect(records.reserve(request('1', 'one more'))).rejects.toThrow(
      AccountRecordsFullError,
    );
  });

  test('an account with a small share closes one key', async () => {
    await using opened = await open(100, 5);
    const { records } = opened;
    expect(await records.voidKey(voidRequest('1', 'k1'))).toMatchObject({ voided: true });
    await expect(records.voidKey(voidRequest('1', 'k2'))).rejects.toThrow(AccountVoidsFullError);
  });

  test('without room for a record no key is closed', async () => {
    await using opened = await open(4, 3);
    const { records } = opened;
    for (const key of ['k1', 'k2', 'k3']) await reserved(records, '1', key);
    const own = await records.voidKey(voidRequest('1', 'k')).catch((error: unknown) => error);
    expect(own).toBeInstanceOf(AccountRecordsFullError);
    expect(own).not.toBeInstanceOf(AccountVoidsFullError);
    await reserved(records, '2', 'k');
    const full = await records.voidKey(voidRequest('3', 'k')).catch((error: unknown) => error);
    expect(full).toBeInstanceOf(RecordsUnavailableError);
    expect(full).not.toBeInstanceOf(AccountRecordsFullError);
    expect(await records.find('3', 'k')).toBe(null);
    expect(await records.voidKey(voidRequest('1', 'k1'))).toMatchObject({ voided: false });
  });
}
