import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp } from '../../../test/support/app.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { createOrders } from '../../src/orders/create-orders.ts';
import { startFaultyLine } from '../support/faulty-line.ts';
import { createMemoryStorage } from '../support/memory-storage.ts';
import { openOrderCore } from '../support/order-core.ts';
import { buying, startPhone } from '../support/phone.ts';

const UNKNOWN = {
  status: 'unknown',
  error: { code: 'IDEMPOTENCY_UNAVAILABLE', retryable: false },
};

/** A server that has forgotten its orders after the first one, whose answer was lost; the next ones come too late for it. */
async function startForgetful() {
  const stack = new AsyncDisposableStack();
  const sandbox = await startSandbox({ tickMs: 0, instruments: 40 });
  stack.defer(() => sandbox.close());
  const [former, next] = [
    stack.use(await startTestApp({}, { gateway: sandbox })),
    stack.use(await startTestApp({}, { gateway: sandbox })),
  ];
  let current = former;
  const line = stack.use(await startFaultyLine(() => current.url));
  line.aheadMs = -3_700;
  const token = sandbox.token({ email: 'demo@example.com' });
  const storage = createMemoryStorage();
  const open = () => {
    const opened = openOrderCore({ url: line.url, token: () => token, storage });
    stack.defer(() => opened.core.dispose());
    return { ...opened, orders: createOrders(opened.core) };
  };
  const app = open();
  await app.core.account();
  line.next.push('answer-lost', 'lost', 'lost', 'lost');
  const ticket = app.orders.ticket();
  const placing = ticket.place(buying('forgotten'));
  await eventually(() => line.answered === 1);
  current = next;
  return {
    ...{ sandbox, line, open, app, ticket, placing },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

test('an order that a store has forgotten is unknown, though its repeat came too late', async () => {
  await using world = await startForgetful();
  expect(await world.placing).toMatchObject(UNKNOWN);
  expect(await world.ticket.place(buying('forgotten'))).toMatchObject(UNKNOWN);
  expect(world.sandbox.orders()).toHaveLength(1);
});

test('so it is after a restart of the app', async () => {
  await using world = await startForgetful();
  // The repeat has been refused, and its answer is lost as well.
  world.line.next.push('answer-lost');
  await eventually(() => world.line.answered === 2);
  world.app.core.dispose();
  await world.placing;
  world.line.next.length = 0;
  expect(await world.open().orders.resume()).toMatchObject([{ outcome: UNKNOWN }]);
});

test('a repeat that came too late is unsent where the records reach back to its key', async () => {
  await using phone = await startPhone();
  let key = '';
  const fetching: typeof fetch = async (input, init) => {
    const { variables } = JSON.parse(String(init?.body));
    if (phone.line.orders === 0 || (variables?.key ?? key) !== key) return fetch(input, init);
    const refused = { __typename: 'OrderRejected', error: 'EXPIRED', sent: false };
    return Response.json({ data: { order: { ...refused, idempotencyKey: key } } });
  };
  const { orders, sent, core } = phone.open({}, { fetch: fetching });
  await core.account();
  phone.line.next.push('lost');
  const ticket = orders.ticket();
  key = ticket.idempotencyKey;
  expect(await ticket.place(buying('late'))).toMatchObject({
    status: 'unsent',
    idempotencyKey: key,
    error: { code: 'EXPIRED' },
  });
  expect(sent).toHaveLength(4);
});
