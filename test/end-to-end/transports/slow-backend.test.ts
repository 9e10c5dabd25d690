import { afterEach, expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { startHeldGateway } from '../../support/held-gateway.ts';
import { keyOf } from '../../support/order-keys.ts';
import { startedOnce } from '../../support/started.ts';
import { initializedSocket } from '../live/raw-socket.ts';
import { marketOrder, placeMutation } from '../orders/order-request.ts';

const sandbox = startedOnce(() => startSandbox({ tickMs: 0 }));
const gateway = startedOnce(() => startHeldGateway(sandbox));
// Longer than a test waits, so that no held call ends by its time-out.
const GATEWAY_TIMEOUT_MS = '100000';
const app = startedOnce(() =>
  startTestApp({ GATEWAY_URL: gateway.url, GATEWAY_TIMEOUT_MS }, { gateway: sandbox }),
);
afterEach(() => gateway.release());

const METHODS = '{ withdrawalMethods { id } }';
const token = () => sandbox.token({ email: 'demo@example.com' });

test('a query that its client has left runs to its end, sends nothing, and is logged as gone', async () => {
  using socket = await initializedSocket(app, token());
  await app.query(METHODS, { token: token() });
  gateway.hold('getWithdrawalMethods');
  socket.subscribe('a', METHODS);
  await eventually(() => expect(gateway.waiting).toBe(1));
  socket.send({ id: 'a', type: 'complete' });
  socket.subscribe('b', '{ __typename }');
  await socket.until('b', 'complete');
  gateway.release();
  await eventually(() => {
    const gone = app.logged.filter((line) => line.includes('"outcome":"gone"'));
    expect(gone).toHaveLength(1);
  });
  expect(gateway.left).toBe(0);
  socket.subscribe('a', '{ __typename }');
  await socket.until('a', 'complete');
  const answers = socket.messagesOf('a').filter(({ type }) => type !== 'complete');
  expect(answers).toMatchObject([{ type: 'next', payload: { data: { __typename: 'Query' } } }]);
});

test('a read goes on when its client disconnects, and the next attempt joins it', async () => {
  const own = token();
  using socket = await initializedSocket(app, own);
  gateway.hold('getWithdrawalMethods', 'getCustomerId');
  sandbox.clearCalls();
  socket.subscribe('a', METHODS);
  await eventually(() => expect(gateway.waiting).toBe(1));
  socket.stream.destroy();
  const again = app.query('{ customerId withdrawalMethods { id } }', { token: own });
  // Its other read has begun.
  await eventually(() => expect(gateway.waiting).toBe(2));
  gateway.release();
  expect((await again).errors).toEqual([]);
  expect(sandbox.calls('getWithdrawalMethods')).toBe(1);
  expect(gateway.left).toBe(0);
});

test('orders whose client unsubscribes are executed, and no longer count as operations of the socket', async () => {
  const own = token();
  using socket = await initializedSocket(app, own);
  sandbox.clearCalls();
  gateway.hold('openPosition', 'getOpenPositions');
  const read = '{ __typename ... on OrderAccepted { positions { id } } }';
  const { query, variables } = placeMutation(marketOrder('left'), read);
  // All orders have the same key, so only one is sent.
  for (let index = 0; index < 100; index += 1) {
    socket.subscribe(`order ${index}`, query, { ...variables });
    socket.send({ id: `order ${index}`, type: 'complete' });
  }
  // A socket may have a hundred operations. Those below wait for the same gateway call as the orders.
  for (let index = 0; index <= 100; index += 1)
    socket.subscribe(`read ${index}`, '{ positions { id } }');
  const refused = await socket.until('read 100', 'error');
  // Only a mutation is marked as not sent.
  expect(refused.payload[0].extensions).toEqual({
    code: 'QUERY_TOO_COMPLEX',
    retryable: false,
    limit: 'operations of a socket',
    value: 101,
    maximum: 100,
  });
  await eventually(() => expect(gateway.waiting).toBe(2));
  gateway.release();
  const asked = `{ placedOrder(idempotencyKey: "${keyOf('left')}") { __typename } }`;
  const { data } = await app.query(asked, { token: own });
  expect(data.placedOrder).toEqual({ __typename: 'OrderAccepted' });
  expect(sandbox.calls('openPosition')).toBe(1);
  expect(socket.messages.filter(({ id = '' }) => id.startsWith('order'))).toEqual([]);
  expect(gateway.left).toBe(0);
  const isGone = (line: string) => /"type":"mutation".*"outcome":"gone"/.test(line);
  await eventually(() => expect(app.logged.filter(isGone)).toHaveLength(100));
  await eventually(async () => {
    socket.subscribe('later', '{ __typename }');
    expect((await socket.until('later', 'next')).payload.data).toEqual({ __typename: 'Query' });
  });
});
