import { describe, expect, test } from 'vitest';
import { ACCOUNT, LOGIN } from '../../../src/lib/account.ts';
import { recordId } from '../../../src/store/order-records.ts';
import { RecordsUnavailableError } from '../../../src/store/refusals.ts';
import { accountNamed } from '../../support/accounts.ts';
import { keyOf } from '../../support/order-keys.ts';
import { viewerOf } from '../viewer.ts';
import {
  acceptedAs,
  answered,
  demo,
  demoProof,
  isOver,
  last,
  notSent,
  orderTimeoutMs,
  proofOf,
  stage,
  ticketOf,
  unanswered,
} from './order-stage.ts';

test('the id of a record begins with an account, for which a login is a type error', () => {
  expect(recordId(demo[ACCOUNT], 'k')).toBe('1001:k');
  // @ts-expect-error: two tenants may share a login, and then their records would share an id.
  recordId(demo[LOGIN], 'k');
});

describe('an order', () => {
  test('with the proof of another account is refused', async () => {
    const { orders, calls } = stage();
    const otherProof = proofOf(viewerOf('token-2', { login: '2002' }));
    const otherPlaced = orders.place(demo, otherProof, ticketOf('new'));
    await expect(otherPlaced).rejects.toThrow('another account');
    expect(calls).toEqual([]);
  });

  test('is answered after onAccountChanged was called for its account, even if this callback fails', async () => {
    const events: string[] = [];
    const onAccountChanged = () => {
      events.push('onAccountChanged');
      throw new Error('a listener fails');
    };
    const { calls, begin, log } = stage(undefined, { onAccountChanged });
    const { placed } = await begin('k');
    const clientAnswered = placed.then(() => events.push('answered'));
    last(calls).end(acceptedAs('o-1'));
    await clientAnswered;
    expect(events).toEqual(['onAccountChanged', 'answered']);
    expect(log.lines).toEqual(['the listener for changed accounts failed']);
  });
});

describe('an error', () => {
  test('frees the key, and all waiting requests receive the same error', async () => {
    const { calls, begin } = stage();
    for (const [exchange, kind] of [
      [notSent, 'unavailable'],
      [answered(429), 'rate-limited'],
    ] as const) {
      const all = await Promise.all([begin('k'), begin('k'), begin('k')]);
      const callsBefore = calls.length;
      last(calls).end(exchange);
      const answers = await Promise.allSettled(all.map(({ placed }) => placed));
      for (const answer of answers) expect(answer).toMatchObject({ reason: { kind } });
      expect(calls).toHaveLength(callsBefore);
    }
    // The key is free, so another order can use it.
    const { placed } = await begin('k', demo, 'MSFT');
    last(calls).end(acceptedAs('o-1'));
    expect(await placed).toMatchObject({ replayed: false });
  });

  test('of the service after sending makes the outcome unknown, and keeps the key', async () => {
    const { orders, calls, begin, log } = stage();
    const { placed } = await begin('k');
    last(calls).end(new TypeError('a mistake of ours'));
    expect(await placed).toMatchObject({ outcome: { kind: 'unknown' } });
    expect(log.lines).toHaveLength(1);
    await orders.place(demo, demoProof, ticketOf('k'));
    expect(calls).toHaveLength(1);
  });

  test('of the service while an answer is judged keeps the key', async () => {
    const { orders, calls, begin, clock } = stage();
    const { placed } = await begin('k');
    // Judging an answer reads its status, which throws here.
    last(calls).end({
      ...answered(200),
      get status(): number {
        throw new TypeError('a mistake of ours');
      },
    });
    await expect(placed).rejects.toThrow(TypeError);
    const repeat = orders.place(demo, demoProof, ticketOf('k'));
    // A repeat waits for the timeout of the order, and two seconds for the record of its outcome.
    await clock.advance(orderTimeoutMs + 2_000);
    expect(await repeat).toMatchObject({ outcome: { kind: 'unknown' }, replayed: true });
    expect(calls).toHaveLength(1);
  });
});

test.each([
  ['accepted', acceptedAs('o-1'), 2],
  ['rejected', answered(200, { success: false, error: 'NO_MONEY' }), 1],
  ['unknown', answered(500), 1],
  ['rejected', answered(401), 1],
  ['rejected', answered(429), 1],
  ['unknown', unanswered, 1],
])('after a late answer, an unknown order is %s', async (kind, late, changeCount) => {
  const { orders, calls, begin, clock, changedAccounts } = stage();
  const { placed } = await begin('k');
  last(calls).end(unanswered);
  expect(await placed).toMatchObject({ outcome: { kind: 'unknown' }, replayed: false });
  // An unknown order may have changed the account. Only a late acceptance reports another change.
  expect(changedAccounts).toEqual([demo[ACCOUNT]]);
  last(calls).endLate(late);
  expect(changedAccounts).toHaveLength(changeCount);
  await clock.advance(0);
  const answer = { outcome: { kind }, replayed: true };
  expect(await orders.placed(demoProof, keyOf('k'))).toMatchObject(answer);
  expect(await orders.place(demo, demoProof, ticketOf('k'))).toMatchObject(answer);
  expect(calls).toHaveLength(1);
});

test('if an account receives an order number twice, the second order is unknown', async () => {
  const { calls, begin, log } = stage();
  const place = async (key: string, viewer = demo, orderId: unknown = 'o-1') => {
    const { placed } = await begin(key, viewer);
    last(calls).end(answered(200, { success: true, orderId }));
    return (await placed).outcome;
  };
  expect(await place('first')).toMatchObject({ kind: 'accepted', orderId: 'o-1' });
  expect(await place('second')).toMatchObject({
    kind: 'unknown',
    message: 'The gateway named the order o-1. It was named for another key, too.',
  });
  const other = viewerOf('token-2', { login: '2002' });
  expect(await place('third', other)).toMatchObject({ kind: 'accepted' });
  // These values count as a missing number, so they may be repeated.
  for (const orderId of [null, '', 0, '0', '0.0']) {
    for (const time of ['first', 'second']) {
      const outcome = await place(`${time} ${typeof orderId} ${orderId}`, demo, orderId);
      expect(outcome, String(orderId)).toMatchObject({ kind: 'accepted' });
    }
  }
  expect(log.lines).toEqual([expect.stringContaining('set GATEWAY_ORDER_NUMBERS=position')]);
});

test('if the gateway nets positions, a repeated number is accepted', async () => {
  const { calls, begin } = stage(undefined, { orderNumbers: 'position' });
  for (const key of ['first', 'second']) {
    const { placed } = await begin(key, demo);
    last(calls).end(answered(200, { success: true, orderId: 'p-1' }));
    expect((await placed).outcome).toMatchObject({ kind: 'accepted', orderId: 'p-1' });
  }
});

// A reservation must be answered within five seconds.
describe('if the records', () => {
  test('answer a reservation too late, the order is not sent and its key is released', async () => {
    const gate = Promise.withResolvers<void>();
    const { orders, records, calls, begin, clock } = stage((shared) => ({
      reserve: async (request) => {
        const answer = await shared.reserve(request);
        await gate.promise;
        return answer;
      },
    }));
    const { placed } = await begin('k');
    await clock.advance(5_000);
    await expect(placed).rejects.toThrow(RecordsUnavailableError);
    expect(await records.find(accountNamed('1001'), keyOf('k'))).not.toBe(null);
    gate.resolve();
    await clock.advance(0);
    expect(await records.find(accountNamed('1001'), keyOf('k'))).toBe(null);
    expect(calls).toHaveLength(0);
    expect(orders.oldestSeconds).toBe(0);
  });

  test('fail for the first of two orders with one key, the second order is reserved and sent', async () => {
    const gate = Promise.withResolvers<void>();
    let reserveCalls = 0;
    const { calls, clock, begin } = stage((shared) => ({
      reserve: async (request) => {
        reserveCalls += 1;
        if (reserveCalls > 1) return shared.reserve(request);
        await gate.promise;
        throw new RecordsUnavailableError('the disk is full');
      },
    }));
    const first = await begin('k');
    await begin('k', demo, 'MSFT');
    gate.resolve();
    await expect(first.placed).rejects.toThrow(RecordsUnavailableError);
    await clock.advance(0);
    expect(calls).toMatchObject([{ symbol: 'MSFT' }]);
  });

  test.each([
    [5_000, 'sent', 1],
    [5_001, 'not sent', 0],
  ])(
    'answer %d ms later because the process was frozen, the order is %s',
    async (ms, _what, sentOrders) => {
      const { clock, calls, records, orders, begin } = stage((shared) => ({
        reserve: async (request) => {
          const answer = await shared.reserve(request);
          // No timer ran while the process was frozen.
          const thawedAtMs = clock.now() + ms;
          Object.assign(clock, { now: () => thawedAtMs });
          return answer;
        },
      }));
      const { placed } = await begin('k');
      expect(calls).toHaveLength(sentOrders);
      for (const call of calls) call.end(acceptedAs('o-1'));
      await orders.drain();
      const isUnsent = sentOrders === 0;
      if (isUnsent) await expect(placed).rejects.toThrow(RecordsUnavailableError);
      expect((await records.find(accountNamed('1001'), keyOf('k'))) === null).toBe(isUnsent);
    },
  );

  test('are slow to record an outcome, its client waits at most two seconds', async () => {
    const { calls, begin, clock } = stage(() => ({ settle: () => new Promise(() => {}) }));
    const { placed } = await begin('k');
    last(calls).end(acceptedAs('o-1'));
    await clock.advance(1_999);
    expect(await isOver(placed)).toBe(false);
    await clock.advance(1);
    expect(await isOver(placed)).toBe(true);
  });

  test('are slow to free a key, an order that was not accepted is answered once the key is free', async () => {
    const gate = Promise.withResolvers<void>();
    const { calls, begin } = stage(() => ({ release: () => gate.promise }));
    const { placed } = await begin('k');
    last(calls).end(notSent);
    expect(await isOver(placed)).toBe(false);
    gate.resolve();
    await expect(placed).rejects.toMatchObject({ kind: 'unavailable' });
  });
});

describe('with a second process', () => {
  test('a wait for a record ends after the order timeout, even if the store calls the record pending for longer', async () => {
    const { calls, begin, start, clock } = stage((shared) => ({
      // The first call makes a record that is pending for an hour, so the second call answers that the key is in use. Both
      // processes then wait for the outcome of that record.
      reserve: async (request) => {
        await shared.reserve({ ...request, pendingMs: 3_600_000 });
        return shared.reserve(request);
      },
    }));
    const requests = [await begin('k'), await begin('k', demo, 'AAPL', start())];
    const refused = requests.map(({ placed }) =>
      expect(placed).rejects.toMatchObject({
        name: 'RecordsUnavailableError',
        earlierUnknown: true,
      }),
    );
    await clock.advance(orderTimeoutMs + 2_000);
    await Promise.all(refused);
    expect(calls).toHaveLength(0);
  });
});

test.each([
  ['the same number', acceptedAs('77'), []],
  ['another number', acceptedAs('78'), ['contradicted']],
  ['a refusal', answered(200, { success: false }), ['contradicted']],
])(
  'a late answer is logged and counted only if it contradicts the outcome that an operator has settled: %s',
  async (_, late, contradictions) => {
    const outcomeByOperator = {
      kind: 'accepted',
      orderId: '77',
      message: null,
      settled: { by: 'jane', why: 'ticket', atMs: 1 },
    } as const;
    const { calls, clock, begin, counted, log } = stage((shared) => ({
      settle: async (reservation, outcome) =>
        outcome.kind === 'unknown' ? shared.settle(reservation, outcome) : outcomeByOperator,
    }));
    const { placed } = await begin('k');
    last(calls).end(unanswered);
    expect(await placed).toMatchObject({ outcome: { kind: 'unknown' } });
    last(calls).endLate(late);
    await clock.advance(0);
    expect(counted.filter((each) => each.includes('contradicted'))).toEqual(contradictions);
    const line = 'the gateway contradicts a settled order';
    expect(log.lines.filter((each) => each === line)).toHaveLength(contradictions.length);
  },
);

test('draining waits until every order in flight has ended and its outcome is recorded', async () => {
  let isAway = true;
  const { orders, records, calls, begin, clock, log } = stage((shared) => ({
    settle: async (...args) => {
      if (isAway) throw new RecordsUnavailableError('away');
      return shared.settle(...args);
    },
  }));
  const [{ placed }] = await Promise.all([begin('a'), begin('b')]);
  const drain = orders.drain();
  calls[0]?.end(acceptedAs('o-1'));
  expect(await placed).toMatchObject({ outcome: { kind: 'accepted' }, replayed: false });
  expect(log.lines).toHaveLength(1);
  calls[1]?.end(notSent);
  await clock.advance(30_000);
  // No order is in flight, but the outcome of the first order is not recorded yet.
  expect(orders.oldestSeconds).toBe(0);
  expect(await isOver(drain)).toBe(false);
  isAway = false;
  await clock.advance(5_000);
  await drain;
  expect(await records.find(accountNamed('1001'), keyOf('a'))).toMatchObject({
    outcome: { kind: 'accepted' },
  });
});
