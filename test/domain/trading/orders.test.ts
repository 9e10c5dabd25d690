import { describe, expect, test } from 'vitest';
import { limitTicket } from '../../../src/domain/trading/ticket.ts';
import { InputError } from '../../../src/lib/input-error.ts';
import {
  RecordsUnavailableError,
  type Reservation,
  recordId,
} from '../../../src/store/order-records.ts';
import { accountNamed } from '../../support/accounts.ts';
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

test('the id of a record needs an account; with a login, which two tenants may share, it does not compile', () => {
  expect(recordId(demo.account, 'k')).toBe('1001:k');
  // @ts-expect-error: a login is not an account.
  recordId(demo.login, 'k');
});

describe('an order', () => {
  test('with the key of another order, or the proof of another account, is refused', async () => {
    const { orders, calls, begin } = stage();
    const { placed } = await begin('k');
    const other = { argument: 'input.idempotencyKey' };
    await expect(orders.place(demo, demoProof, ticketOf('k', 'MSFT'))).rejects.toMatchObject(other);
    last(calls).end(acceptedAs('o-1'));
    await placed;
    await expect(orders.place(demo, demoProof, ticketOf('k', 'MSFT'))).rejects.toThrow(InputError);
    const price = {
      symbol: 'AAPL',
      side: 'BUY',
      amount: 1,
      price: 1,
      idempotencyKey: 'k',
    } as const;
    await expect(orders.place(demo, demoProof, limitTicket(price))).rejects.toMatchObject(other);
    const proof = proofOf(viewerOf('token-2', { login: '2002' }));
    await expect(orders.place(demo, proof, ticketOf('new'))).rejects.toThrow('another account');
    expect(calls).toHaveLength(1);
  });

  test('is passed to onAccountChanged before any client is answered, also if the callback fails', async () => {
    const events: string[] = [];
    const onAccountChanged = () => {
      events.push('known');
      throw new Error('a listener fails');
    };
    const { calls, begin, log } = stage(undefined, { onAccountChanged });
    const { placed } = await begin('k');
    const answered = placed.then(() => events.push('answered'));
    last(calls).end(acceptedAs('o-1'));
    await answered;
    expect(events).toEqual(['known', 'answered']);
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
      const sent = calls.length;
      last(calls).end(exchange);
      const answers = await Promise.allSettled(all.map(({ placed }) => placed));
      for (const answer of answers) expect(answer).toMatchObject({ reason: { kind } });
      expect(calls).toHaveLength(sent);
    }
    const { placed } = await begin('k', demo, 'MSFT');
    last(calls).end(acceptedAs('o-1'));
    expect(await placed).toMatchObject({ replayed: false });
  });

  test('while orders are held frees the key, and nothing is sent', async () => {
    let reason: string | null = 'held';
    const { calls, begin } = stage(({ status }) => ({
      get status() {
        return { ...status, holdReason: reason };
      },
    }));
    await expect((await begin('k')).placed).rejects.toMatchObject({ kind: 'unavailable' });
    expect(calls).toHaveLength(0);
    reason = null;
    await begin('k');
    expect(calls).toHaveLength(1);
  });

  test('of the facade after sending makes the outcome unknown, and keeps the key', async () => {
    const { orders, calls, begin, log } = stage();
    const { placed } = await begin('k');
    last(calls).end(new TypeError('a mistake of ours'));
    expect(await placed).toMatchObject({ outcome: { kind: 'unknown' } });
    expect(log.lines).toHaveLength(1);
    await orders.place(demo, demoProof, ticketOf('k'));
    expect(calls).toHaveLength(1);
  });

  test('of the facade while an answer is judged keeps the key', async () => {
    const { orders, calls, begin, clock } = stage();
    const { placed } = await begin('k');
    last(calls).end({
      ...answered(200),
      get status(): number {
        throw new TypeError('a mistake of ours');
      },
    });
    await expect(placed).rejects.toThrow(TypeError);
    const repeat = orders.place(demo, demoProof, ticketOf('k'));
    await clock.advance(orderTimeoutMs + 2_000);
    expect(await repeat).toMatchObject({ outcome: { kind: 'unknown' }, replayed: true });
    expect(calls).toHaveLength(1);
  });
});

test.each([
  ['accepted', acceptedAs('o-1'), 2],
  ['rejected', answered(200, { success: false, err: 'NO_MONEY' }), 1],
  ['unknown', answered(500), 1],
  ['rejected', answered(401), 1],
  ['rejected', answered(429), 1],
  ['unknown', unanswered, 1],
])('a late answer changes an unknown order to %s', async (kind, late, changes) => {
  const { orders, calls, begin, clock, acceptances } = stage();
  const { placed } = await begin('k');
  last(calls).end(unanswered);
  expect(await placed).toMatchObject({ outcome: { kind: 'unknown' }, replayed: false });
  expect(acceptances).toEqual([demo.login]);
  last(calls).endLate(late);
  expect(acceptances).toHaveLength(changes);
  await clock.advance(0);
  const answer = { outcome: { kind }, replayed: true };
  expect(await orders.placed(demoProof, 'k')).toMatchObject(answer);
  expect(await orders.place(demo, demoProof, ticketOf('k'))).toMatchObject(answer);
  expect(calls).toHaveLength(1);
});

test('if an account receives an order number twice, the second order is unknown', async () => {
  const { calls, begin, log } = stage();
  const place = async (key: string, viewer = demo, number: unknown = 'o-1') => {
    const { placed } = await begin(key, viewer);
    last(calls).end(answered(200, { success: true, orderId: number }));
    return (await placed).outcome;
  };
  expect(await place('first')).toMatchObject({ kind: 'accepted', orderId: 'o-1' });
  expect(await place('second')).toMatchObject({
    kind: 'unknown',
    message: 'The gateway named the order o-1. It was named for another key, too.',
  });
  const other = viewerOf('token-2', { login: '2002' });
  expect(await place('third', other)).toMatchObject({ kind: 'accepted' });
  for (const none of [null, '', 0, '0', '0.0']) {
    for (const time of ['first', 'second']) {
      const outcome = await place(`${time} ${typeof none} ${none}`, demo, none);
      expect(outcome, String(none)).toMatchObject({ kind: 'accepted' });
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
    expect(await records.find(accountNamed('1001'), 'k')).not.toBe(null);
    gate.resolve();
    await clock.advance(0);
    expect(await records.find(accountNamed('1001'), 'k')).toBe(null);
    expect(calls).toHaveLength(0);
    expect(orders.oldestSeconds).toBe(0);
  });

  test('fail for the first of two orders with one key, the second is tried independently', async () => {
    const gate = Promise.withResolvers<void>();
    let asked = 0;
    const { calls, clock, begin } = stage((shared) => ({
      reserve: async (request) => {
        asked += 1;
        if (asked > 1) return shared.reserve(request);
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
    ['sent within', 5_000, 1],
    ['not sent after', 5_001, 0],
  ])(
    'answer after the process was frozen, the order is %s its limit (%d ms)',
    async (_, ms, sent) => {
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
      expect(calls).toHaveLength(sent);
      for (const call of calls) call.end(acceptedAs('o-1'));
      await orders.drain();
      if (sent === 0) await expect(placed).rejects.toThrow(RecordsUnavailableError);
      expect((await records.find(accountNamed('1001'), 'k')) === null).toBe(sent === 0);
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
  test('a wait for a record is bounded by the order timeout, for any answer of the store', async () => {
    let first: Reservation | null = null;
    const { records, calls, begin, start, clock, counted, log } = stage((shared) => ({
      reserve: async (request) => {
        const answer = await shared.reserve({ ...request, pendingMs: 3_600_000 });
        if (answer.reserved) first = answer.reservation;
        return shared.reserve(request);
      },
    }));
    const asked = [await begin('k'), await begin('k', demo, 'AAPL', start())];
    await clock.advance(orderTimeoutMs + 2_000);
    for (const { placed } of asked) {
      expect(await placed).toMatchObject({ outcome: { kind: 'unknown' }, replayed: true });
    }
    expect(calls).toHaveLength(0);
    // The order is logged and counted only by the process that has recorded its outcome.
    expect(counted).toEqual(['unknown order']);
    expect(log.lines).toEqual(['an order ended unknown']);
    // A later release does not free the key.
    if (first !== null) await records.release(first);
    expect(await records.find(demo.account, 'k')).toMatchObject({ outcome: { kind: 'unknown' } });
  });
});

test.each([
  ['the gateway’s own', acceptedAs('77'), []],
  ['another number', acceptedAs('78'), ['contradicted']],
  ['a refusal', answered(200, { success: false }), ['contradicted']],
])(
  'a settled order keeps its outcome, and a late answer that contradicts it is logged and counted: %s',
  async (_, late, contradictions) => {
    const settled = {
      kind: 'accepted',
      orderId: '77',
      message: null,
      settled: { by: 'jane', why: 'ticket', atMs: 1 },
    } as const;
    const { calls, clock, begin, counted, log, times } = stage((shared) => ({
      settle: async (reservation, outcome) =>
        outcome.kind === 'unknown' ? shared.settle(reservation, outcome) : settled,
    }));
    const { placed } = await begin('k');
    last(calls).end(unanswered);
    expect(await placed).toMatchObject({ outcome: { kind: 'unknown' } });
    last(calls).endLate(late);
    await clock.advance(0);
    expect(counted.filter((each) => each.includes('contradicted'))).toEqual(contradictions);
    const line = 'the gateway contradicts a settled order';
    expect(log.lines.filter((each) => each === line)).toHaveLength(contradictions.length);
    expect(times).toEqual([
      { sentAtMs: 1_000, answeredAtMs: null },
      { sentAtMs: 1_000, answeredAtMs: clock.date() },
    ]);
  },
);

test('draining waits until every order in flight has ended and its outcome is recorded', async () => {
  let away = true;
  const { orders, records, calls, begin, clock, log } = stage((shared) => ({
    settle: async (...args) => {
      if (away) throw new RecordsUnavailableError('away');
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
  expect(orders.oldestSeconds).toBe(0);
  expect(await isOver(drain)).toBe(false);
  away = false;
  await clock.advance(5_000);
  await drain;
  expect(await records.find(accountNamed('1001'), 'a')).toMatchObject({
    outcome: { kind: 'accepted' },
  });
});
