import { expect, test } from 'vitest';
import { InputError } from '../../../src/domain/input-error.ts';
import { RecordsUnavailableError } from '../../../src/store/order-records.ts';
import {
  acceptedAs,
  demo,
  demoProof,
  last,
  notSent,
  orderTimeoutMs,
  stage,
  ticketOf,
  unanswered,
} from './order-stage.ts';

const away = async () => {
  throw new RecordsUnavailableError('away');
};

test('an outcome that waits to be written is what a repeat, a question and a void are told', async () => {
  const { orders, calls, begin } = stage(() => ({ settle: away }));
  const { placed } = await begin('k');
  last(calls).end(unanswered);
  await placed;
  const ask = () =>
    Promise.all([
      orders.place(demo, demoProof, ticketOf('k')),
      orders.placed(demoProof, 'k'),
      orders.void(demoProof, 'k', null),
    ]);
  const told = (kind: string) =>
    Array(3).fill(expect.objectContaining({ outcome: expect.objectContaining({ kind }) }));
  expect(await ask()).toEqual(told('unknown'));
  last(calls).endLate(acceptedAs('o-1'));
  expect(await ask()).toEqual(told('accepted'));
  const other = orders.place(demo, demoProof, ticketOf('k', 'MSFT'));
  await expect(other).rejects.toThrow(InputError);
  expect(calls).toHaveLength(1);
});

test('a key that cannot be freed is that of no order: none is on record, and none is sent', async () => {
  const { orders, calls, begin, clock } = stage(() => ({ release: away }));
  const { placed } = await begin('k');
  last(calls).end(notSent);
  await expect(placed).rejects.toMatchObject({ kind: 'unavailable' });
  expect(await orders.placed(demoProof, 'k')).toBeNull();
  const repeat = orders.place(demo, demoProof, ticketOf('k'));
  const refused = expect(repeat).rejects.toMatchObject({ earlierUnknown: false });
  await clock.advance(orderTimeoutMs + 2_000);
  await refused;
  expect(calls).toHaveLength(1);
});

test('a key whose freeing was never answered may be that of an order which another process has sent since', async () => {
  let isAway = false;
  const { orders, calls, begin, start, clock } = stage((shared) => ({
    release: (reservation) => shared.release(reservation).then(away),
    find: (login, key) => (isAway ? away() : shared.find(login, key)),
  }));
  const { placed } = await begin('k');
  last(calls).end(notSent);
  await expect(placed).rejects.toMatchObject({ kind: 'unavailable' });
  const other = await begin('k', demo, 'AAPL', start());
  last(calls).end(acceptedAs('o-1'));
  await other.placed;
  const told = { outcome: { orderId: 'o-1' }, replayed: true };
  expect(await orders.placed(demoProof, 'k')).toMatchObject(told);
  const repeat = orders.place(demo, demoProof, ticketOf('k'));
  await clock.advance(orderTimeoutMs + 2_000);
  expect(await repeat).toMatchObject(told);
  isAway = true;
  const unknown = { earlierUnknown: true };
  await expect(orders.placed(demoProof, 'k')).rejects.toMatchObject(unknown);
  const again = orders.place(demo, demoProof, ticketOf('k'));
  const refused = expect(again).rejects.toMatchObject(unknown);
  await clock.advance(orderTimeoutMs + 2_000);
  await refused;
  expect(calls).toHaveLength(2);
});
