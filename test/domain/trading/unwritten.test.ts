import { expect, test } from 'vitest';
import { ACCOUNT } from '../../../src/lib/account.ts';
import { InputError } from '../../../src/lib/public-error.ts';
import { RECORD_LIFE_MS } from '../../../src/store/order-records.ts';
import { RecordsUnavailableError } from '../../../src/store/refusals.ts';
import { keyOf } from '../../support/order-keys.ts';
import {
  acceptedAs,
  demo,
  demoProof,
  isOver,
  last,
  notSent,
  orderTimeoutMs,
  stage,
  ticketOf,
  unanswered,
} from './order-stage.ts';

const failAsAway = async () => {
  throw new RecordsUnavailableError('away');
};

test('a repeat, a query and a void receive an outcome that waits to be written', async () => {
  const { orders, calls, begin } = stage(() => ({
    settle: failAsAway,
    find: failAsAway,
    voidKey: failAsAway,
  }));
  await begin('k');
  const early = [orders.placed(demoProof, keyOf('k')), orders.void(demoProof, keyOf('k'))];
  last(calls).end(unanswered);
  const unknown = { outcome: { kind: 'unknown' }, replayed: true };
  expect(await Promise.all(early)).toMatchObject([unknown, unknown]);
  const askInEachWay = () =>
    Promise.all([
      orders.place(demo, demoProof, ticketOf('k')),
      orders.placed(demoProof, keyOf('k')),
      orders.void(demoProof, keyOf('k')),
    ]);
  const threeTimes = (kind: string) => Array(3).fill({ outcome: { kind } });
  expect(await askInEachWay()).toMatchObject(threeTimes('unknown'));
  // Alone, a query or a void cannot join a repeat that is in flight.
  expect(await orders.placed(demoProof, keyOf('k'))).toMatchObject(unknown);
  expect(await orders.void(demoProof, keyOf('k'))).toMatchObject(unknown);
  last(calls).endLate(acceptedAs('o-1'));
  expect(await askInEachWay()).toMatchObject(threeTimes('accepted'));
  const other = orders.place(demo, demoProof, ticketOf('k', 'MSFT'));
  await expect(other).rejects.toThrow(InputError);
  expect(calls).toHaveLength(1);
});

test('if the gateway answers while an unknown outcome is being written, every client gets the answer', async () => {
  const [write, later] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { orders, calls, begin } = stage((shared) => ({
    async settle(reservation, outcome) {
      await (outcome.kind === 'unknown' ? write : later).promise;
      return shared.settle(reservation, outcome);
    },
  }));
  const { placed } = await begin('k');
  last(calls).end(unanswered);
  expect(await isOver(placed)).toBe(false);
  last(calls).endLate(acceptedAs('o-1'));
  const repeat = orders.place(demo, demoProof, ticketOf('k'));
  write.resolve();
  const accepted = { outcome: { kind: 'accepted', orderId: 'o-1' } };
  expect(await Promise.all([placed, repeat])).toMatchObject([accepted, accepted]);
  expect(await orders.placed(demoProof, keyOf('k'))).toMatchObject(accepted);
  later.resolve();
});

test('a new order waits while its key is being freed, and ends unknown if that takes too long', async () => {
  let isAway = true;
  const { calls, begin, clock } = stage((shared) => ({
    release: (reservation) =>
      isAway || reservation.key === keyOf('never') ? failAsAway() : shared.release(reservation),
  }));
  // The key `never` is never freed; the key `later` is freed once the records are back.
  for (const key of ['never', 'later']) {
    const { placed } = await begin(key);
    last(calls).end(notSent);
    await expect(placed).rejects.toMatchObject({ kind: 'unavailable' });
  }
  const never = await begin('never');
  const later = await begin('later');
  await clock.advance(500);
  expect(calls).toHaveLength(2);
  isAway = false;
  await clock.advance(1_200);
  expect(calls).toHaveLength(3);
  last(calls).end(acceptedAs('o-2'));
  expect(await later.placed).toMatchObject({ replayed: false });
  await clock.advance(orderTimeoutMs + 2_000);
  expect(await never.placed).toMatchObject({ outcome: { kind: 'unknown' }, replayed: true });
  expect(calls).toHaveLength(3);
});

test('after an unconfirmed release of a key, an order that another process sent with it is found', async () => {
  let isAway = false;
  const { orders, calls, begin, start, clock } = stage((shared) => ({
    // The release happens, but its process receives an error.
    release: (reservation) => shared.release(reservation).then(failAsAway),
    find: (account, key) => (isAway ? failAsAway() : shared.find(account, key)),
  }));
  const { placed } = await begin('k');
  last(calls).end(notSent);
  await expect(placed).rejects.toMatchObject({ kind: 'unavailable' });
  const other = await begin('k', demo, 'AAPL', start());
  last(calls).end(acceptedAs('o-1'));
  await other.placed;
  const answer = { outcome: { orderId: 'o-1' }, replayed: true };
  expect(await orders.placed(demoProof, keyOf('k'))).toMatchObject(answer);
  const repeat = orders.place(demo, demoProof, ticketOf('k'));
  await clock.advance(orderTimeoutMs + 2_000);
  expect(await repeat).toMatchObject(answer);
  isAway = true;
  const unknown = { earlierUnknown: true };
  await expect(orders.placed(demoProof, keyOf('k'))).rejects.toMatchObject(unknown);
  expect(calls).toHaveLength(2);
});

test('a key that an operator settles while it is being freed is read as settled', async () => {
  const { orders, calls, begin, records, clock } = stage(() => ({ release: failAsAway }));
  const { placed } = await begin('k');
  last(calls).end(notSent);
  await expect(placed).rejects.toMatchObject({ kind: 'unavailable' });
  const found = await records.find(demo[ACCOUNT], keyOf('k'));
  if (found === null) throw new Error('the record is missing');
  const settled = { by: 'jane', why: 'ticket', atMs: 0 };
  const rejected = { kind: 'rejected', error: 'SETTLED', message: null } as const;
  const outcome = { ...rejected, sent: false, settled } as const;
  await records.settle({ account: demo[ACCOUNT], key: keyOf('k'), ...found }, outcome);
  expect(await orders.void(demoProof, keyOf('k'))).toMatchObject({ outcome, replayed: true });
  expect(await orders.placed(demoProof, keyOf('k'))).toMatchObject({ outcome, replayed: true });
  const repeat = orders.place(demo, demoProof, ticketOf('k'));
  await clock.advance(orderTimeoutMs + 2_000);
  expect(await repeat).toMatchObject({ outcome, replayed: true });
  expect(calls).toHaveLength(1);
});

test('an outcome is written again until its record expires, and the first and the last failure are logged', async () => {
  const { orders, calls, begin, clock, log } = stage(() => ({ settle: failAsAway }));
  const { placed } = await begin('k');
  last(calls).end(acceptedAs('o-1'));
  await placed;
  const drained = orders.drain();
  await clock.advance(RECORD_LIFE_MS - 2_000);
  expect(await isOver(drained)).toBe(false);
  // The two missing seconds pass, and a minute for the last retry.
  await clock.advance(62_000);
  await drained;
  expect(log.lines).toEqual([
    'the outcome of an order could not be recorded; trying again',
    'the outcome of an order was never recorded',
  ]);
});
