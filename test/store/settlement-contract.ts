import { expect, test } from 'vitest';
import { type Account, textOf } from '../../src/lib/account.ts';
import type { OperatorRecords } from '../../src/store/operator-records.ts';
import {
  isUnknown,
  type OrderRecord,
  type OrderRecords,
  type RecordedOutcome,
} from '../../src/store/order-records.ts';
import { type SettledOutcome, settleByHand } from '../../src/store/settlement.ts';
import { accountNamed } from '../support/accounts.ts';
import { eventually } from '../support/eventually.ts';
import { keyOf } from '../support/order-keys.ts';
import {
  accepted,
  keyFor,
  rejected,
  request,
  reserved,
  unknown,
} from './order-records-contract.ts';

/** Two processes of the service on one store, and an operator. */
export interface SharedRecords extends AsyncDisposable {
  readonly replicas: readonly [OrderRecords, OrderRecords];
  readonly operator: OperatorRecords;
}

const settled = { by: 'jane', why: 'ticket "4711"', atMs: 1 };
const rejectedByOperator = { kind: 'rejected', error: 'SETTLED', message: null } as const;
const notSent: SettledOutcome = { ...rejectedByOperator, sent: false, settled };
export const booked: SettledOutcome = { kind: 'accepted', orderId: '77', message: null, settled };
/** The `pendingMs` of an order whose deadline passed more than a minute ago. Then no answer can arrive any more. */
export const LONG_OVER_MS = -61_000;
const one = accountNamed('1');

/** The tests about operators, who settle unknown orders, that every store must pass. */
export function itIsSettledByOperators(open: () => Promise<SharedRecords>): void {
  test.each([booked, notSent])(
    'an unknown order that an operator settles as $kind has this outcome on each replica, permanently',
    async (outcome) => {
      await using shared = await open();
      // The process `maker` places the orders, and `other` is another process.
      const [maker, other] = shared.replicas;
      const { operator } = shared;
      const order = await reserved(maker, '1', 'k', LONG_OVER_MS);
      const unsettled = await reserved(maker, '2', 'k', LONG_OVER_MS);
      for (const each of [order, unsettled]) await maker.settle(each, unknown);
      const expectUnsettled = async (count: number) => {
        expect(await operator.status()).toMatchObject({ unsettled: count });
        for (const each of [maker, other]) {
          await eventually(() => expect(each.status.unsettled).toBe(count));
        }
      };
      await expectUnsettled(2);
      const answer = await settleByHand(operator, keyFor('1', 'k'), outcome);
      expect(answer).toMatchObject({ kind: 'settled', record: { id: order.id, outcome } });
      const expectSettled = async () => {
        for (const each of [maker, other]) {
          expect(await each.find(one, keyOf('k'))).toMatchObject({ outcome, pendingMs: 0 });
          const repeat = await each.reserve(request('1', 'k'));
          expect(repeat).toMatchObject({ reserved: false, record: { outcome } });
          const lateVoid = await each.voidKey(keyFor('1', 'k'));
          expect(lateVoid).toMatchObject({ voided: false, record: { outcome } });
        }
      };
      await expectSettled();
      await expectUnsettled(1);
      // A second settlement is refused if it differs, and changes nothing if it is equal.
      const otherKind = outcome === booked ? notSent : booked;
      for (const different of [otherKind, { ...booked, orderId: '78' }]) {
        const second = await settleByHand(operator, keyFor('1', 'k'), different);
        expect(second).toMatchObject({ kind: 'known', record: { outcome } });
      }
      const equal = { ...outcome, settled: { ...settled, by: 'joe' } };
      const repeated = await settleByHand(operator, keyFor('1', 'k'), equal);
      expect(repeated).toMatchObject({ kind: 'settled', record: { outcome } });
      // A late answer changes nothing: each time `settle` returns the operator's outcome.
      for (const late of [accepted, rejected, unknown]) {
        expect(await maker.settle(order, late)).toEqual(outcome);
      }
      await maker.release(order);
      await expectSettled();
      // The order of another account with the same key is still unknown, and a late answer settles it.
      expect(await other.find(accountNamed('2'), keyOf('k'))).toMatchObject({ outcome: unknown });
      expect(await maker.settle(unsettled, unknown)).toEqual(unknown);
      expect(await maker.settle(unsettled, accepted)).toBe(null);
      expect(await maker.settle(unsettled, rejected)).toEqual(accepted);
      expect(await other.find(accountNamed('2'), keyOf('k'))).toMatchObject({ outcome: accepted });
      await expectUnsettled(0);
    },
  );

  test('an order is settled only if its outcome is unknown and no answer can arrive any more', async () => {
    await using shared = await open();
    const [records] = shared.replicas;
    const settle = (account: string, key: string) =>
      settleByHand(shared.operator, keyFor(account, key), booked);
    await reserved(records, '1', 'under way', 30_000);
    const unknownOrder = await reserved(records, '1', 'unknown', -30_000);
    await records.settle(unknownOrder, unknown);
    // An answer can arrive until a minute after the deadline. Up to 20 seconds of this time may pass on a busy machine.
    for (const [key, maxLeftMs] of [
      ['under way', 90_000],
      ['unknown', 30_000],
    ] as const) {
      const early = await settle('1', key);
      const leftMs = early.kind === 'early' ? early.leftMs : 0;
      expect(leftMs).toBeGreaterThan(maxLeftMs - 20_000);
      expect(leftMs).toBeLessThanOrEqual(maxLeftMs);
    }
    const bookedByGateway = { kind: 'accepted', orderId: '77', message: null } as const;
    for (const outcome of [bookedByGateway, rejected]) {
      const known = await reserved(records, '1', outcome.kind, LONG_OVER_MS);
      await records.settle(known, outcome);
      expect(await settle('1', outcome.kind)).toMatchObject({ kind: 'known', record: { outcome } });
    }
    await records.voidKey(keyFor('1', 'voided'));
    expect(await settle('1', 'voided')).toMatchObject({ kind: 'known' });
    const released = await reserved(records, '1', 'released', LONG_OVER_MS + 600_000);
    await records.release(released);
    for (const [account, key] of [
      ['1', 'no such key'],
      ['2', 'unknown'],
      ['1', 'released'],
    ] as const) {
      expect(await settle(account, key)).toEqual({ kind: 'none' });
    }
    expect(await records.find(one, keyOf('unknown'))).toMatchObject({ outcome: unknown });
    // An order that was cut off is unknown as well.
    await reserved(records, '1', 'cut off', LONG_OVER_MS);
    expect(await settle('1', 'cut off')).toMatchObject({ kind: 'settled' });
  });

  test('if operators and a late answer settle an order at the same time, one outcome wins', async () => {
    await using shared = await open();
    const [maker, other] = shared.replicas;
    for (let n = 0; n < 12; n += 1) {
      const order = await reserved(maker, '1', `k${n}`, LONG_OVER_MS);
      const { key } = order;
      const settlements = [booked, notSent, notSent, booked].map((outcome) =>
        settleByHand(shared.operator, { account: one, key }, outcome),
      );
      const lateAnswer = maker.settle(order, accepted);
      const answers = await Promise.all(settlements);
      // Null if the late answer was recorded, otherwise the operators' outcome.
      const settledOutcome = await lateAnswer;
      const outcome = (await other.find(one, key))?.outcome as RecordedOutcome;
      expect(await maker.find(one, key)).toMatchObject({ outcome });
      expect(outcome).toEqual(settledOutcome ?? accepted);
      for (const answer of answers) expect(answer).toMatchObject({ record: { outcome } });
      const isByOperator = answers.some(({ kind }) => kind === 'settled');
      expect(isByOperator).toBe(settledOutcome !== null);
    }
  });

  test('an order whose process is gone is reported once, and a late answer still counts', async () => {
    await using shared = await open();
    const [maker, other] = shared.replicas;
    // Ten seconds after its deadline, the process of a pending order counts as gone.
    const goneMs = -11_000;
    const gone = await reserved(maker, '1:~', 'k', goneMs);
    await reserved(maker, '1', 'in time', -5_000);
    await maker.settle(await reserved(maker, '1', 'accepted', goneMs), accepted);
    await maker.settle(await reserved(maker, '1', 'unknown', goneMs), unknown);
    const found = await Promise.all([other, maker, other].map((each) => each.cutOff()));
    const { account, key, reservedAtMs } = gone;
    expect(found.flat()).toEqual([{ account, key, reservedAtMs }]);
    expect(await shared.operator.status()).toMatchObject({ unsettled: 2 });
    const outcome = { kind: 'unknown', sentAtMs: reservedAtMs, message: null };
    expect(await other.find(account, key)).toMatchObject({ id: gone.id, outcome });
    await maker.settle(gone, accepted);
    for (const each of [maker, other]) {
      expect(await each.find(account, key)).toMatchObject({ outcome: accepted });
      expect(await each.cutOff()).toEqual([]);
    }
  });

  test('orders are held back in every process, and released', async () => {
    await using shared = await open();
    const { replicas, operator } = shared;
    for (const isHeld of [true, false, false, true]) {
      await operator.hold(isHeld);
      const onEach = () => replicas.map(({ status }) => status.holdReason !== null);
      await eventually(() => expect(onEach()).toEqual([isHeld, isHeld]));
    }
    // Orders stay held after an operator has declared that records are missing.
    await operator.declareIncomplete();
    const { holdReason } = await operator.status();
    expect(holdReason).toContain('held back by an operator');
  });

  test('any number of orders is listed, each once', async () => {
    await using shared = await open();
    const [records] = shared.replicas;
    const all = await Promise.all(
      Array.from({ length: 1_100 }, (_, n) => reserved(records, `${n % 3}`, `k:${n}`)),
    );
    const unknownOrders = all.filter((_, n) => n % 100 === 0);
    for (const each of unknownOrders) await records.settle(each, unknown);
    const gone = await reserved(records, '1', 'gone', LONG_OVER_MS);
    /** The sorted keys of all orders of an account, or of all accounts, whose record the test accepts. */
    const listed = async (wanted: Account | null, accepts = (_: OrderRecord) => true) => {
      const keys: string[] = [];
      for await (const { account, key, record } of shared.operator.list(wanted)) {
        if (accepts(record)) keys.push(`${textOf(account)} ${key}`);
      }
      return keys.sort();
    };
    const keysOf = (orders: typeof all) =>
      orders.map(({ account, key }) => `${textOf(account)} ${key}`).sort();
    expect(await listed(null)).toEqual(keysOf([...all, gone]));
    expect(await listed(null, isUnknown)).toEqual(keysOf([...unknownOrders, gone]));
    const ofOne = [...unknownOrders, gone].filter(({ account }) => account === one);
    expect(await listed(one, isUnknown)).toEqual(keysOf(ofOne));
    // Releases listed orders before the next page is read.
    const pending = all.filter((each) => !unknownOrders.includes(each));
    const notListed = new Set(pending.map(({ key }) => key));
    let releases: Promise<void>[] = [];
    for await (const { account, key, record } of shared.operator.list(null)) {
      if (notListed.delete(key)) releases.push(records.release({ ...record, account, key }));
      if (releases.length < 100) continue;
      await Promise.all(releases);
      releases = [];
    }
    await Promise.all(releases);
    expect([...notListed]).toEqual([]);
    const { account, key, id } = gone;
    expect(await shared.operator.find(account, key)).toMatchObject({ id, outcome: null });
    expect(await shared.operator.find(accountNamed('2'), key)).toBe(null);
  });
}
