import { type Dispatcher, Pool } from 'undici';
import { describe, expect, test } from 'vitest';
import type { GatewayClient } from '../../src/gateway/client.ts';
import type { Caller } from '../../src/gateway/exchange.ts';
import { ACKNOWLEDGED } from '../../src/gateway/operations/acknowledged.ts';
import { CUSTOMER_ID } from '../../src/gateway/operations/get-customer-id.ts';
import type { MarketOrder } from '../../src/gateway/operations/open-position.ts';
import { OPERATIONS } from '../../src/gateway/operations.ts';
import type { Pools } from '../../src/gateway/transport.ts';
import { provedAs } from '../support/accounts.ts';
import { accepted, orderBody, pathOf } from '../support/ask-gateway.ts';
import { eventually } from '../support/eventually.ts';
import { answer, type Script, startScriptedGateway } from '../support/scripted-gateway.ts';
import { anyCaller, limitOrder, marketOrder, openClient } from './open-client.ts';

/** The answer to an order, and to a small write. */
const ACCEPTED = { ...accepted(), ...ACKNOWLEDGED.toWire({ success: true }) };
const accept: Script = (socket) => socket.write(answer(200, ACCEPTED));
const silence: Script = () => {};
/** One connection for each of the three areas: reads, orders and the other calls. */
const NARROW = { connections: 3 };

type Opened = ReturnType<typeof openClient>;
type OrderOptions = Parameters<GatewayClient['order']>[3];

function placeMarket({ client }: Opened, options?: OrderOptions) {
  return client.order(anyCaller, OPERATIONS.openPosition, marketOrder, options);
}

/** Blocks the process for 300 ms, like a long pause of the garbage collector. */
function blockProcess() {
  const untilMs = performance.now() + 300;
  while (performance.now() < untilMs);
}

describe('an order that waits for a connection', () => {
  test('is not sent if the process is blocked beyond the deadline while the order connects', async () => {
    await using gateway = await startScriptedGateway(accept);
    await using hasty = openClient(gateway.url, { ...NARROW, orderTimeoutMs: 100 });
    const placed = placeMarket(hasty);
    // During this time the kernel connects, but the client cannot handle the new connection.
    blockProcess();
    expect(await placed).toMatchObject({ sent: false });
    expect(gateway.requests).toHaveLength(0);
  });

  test('is not sent if the process is blocked beyond the deadline, and handles the connection before the timer', async () => {
    // The gateway is in this process, and its handler runs before the client's.
    await using gateway = await startScriptedGateway(accept, { onConnection: blockProcess });
    await using hasty = openClient(gateway.url, { ...NARROW, orderTimeoutMs: 100 });
    const placed = placeMarket(hasty);
    expect(await placed).toMatchObject({ sent: false });
    expect(gateway.requests).toHaveLength(0);
  });

  test('does not reach the gateway after its deadline, and costs no connection', async () => {
    const answers: (() => void)[] = [];
    await using gateway = await startScriptedGateway((socket) => {
      answers.push(() => socket.write(answer(200, ACCEPTED)));
    });
    await using slow = openClient(gateway.url, NARROW);
    await using hasty = openClient(gateway.url, { pools: slow.pools, orderTimeoutMs: 50 });
    const first = placeMarket(slow);
    await eventually(() => expect(answers).toHaveLength(1));
    const givenUp = await Promise.all(Array.from({ length: 20 }, () => placeMarket(hasty)));
    expect(givenUp.map(({ sent }) => sent)).toEqual(Array(20).fill(false));

    const last = slow.client.order(anyCaller, OPERATIONS.placeLimitOrder, limitOrder);
    answers[0]?.();
    expect(await first).toMatchObject({ answered: true, status: 200 });
    await eventually(() => expect(answers).toHaveLength(2));
    answers[1]?.();
    expect(await last).toMatchObject({ answered: true, status: 200 });
    expect(gateway.requests.map(({ path }) => path)).toEqual([
      pathOf('openPosition'),
      pathOf('placeLimitOrder'),
    ]);
    // Each order needs a new connection. The twenty that were given up have made none.
    expect(gateway.connections).toBe(2);
  });
});

describe('an order that has to be sent before a moment', () => {
  test('is not sent if the moment has passed when its head is to be written', async () => {
    const answers: (() => void)[] = [];
    await using gateway = await startScriptedGateway((socket) => {
      answers.push(() => socket.write(answer(200, ACCEPTED)));
    });
    await using open = openClient(gateway.url, NARROW);
    const first = placeMarket(open);
    await eventually(() => expect(answers).toHaveLength(1));
    const sendBeforeMs = Date.now() + 30;
    const late = [
      placeMarket(open, { sendBeforeMs }),
      open.client.order(anyCaller, OPERATIONS.placeLimitOrder, limitOrder, { sendBeforeMs }),
    ];
    const timely = placeMarket(open, { sendBeforeMs: sendBeforeMs + 3_600_000 });
    await eventually(() => Date.now() > sendBeforeMs);
    // Answers the first order and the timely one. The others never reach the gateway.
    for (let order = 0; order < 2; order += 1) {
      await eventually(() => expect(answers.length).toBeGreaterThan(order));
      answers[order]?.();
    }
    const accepted = { sent: true, answered: true, status: 200 };
    expect(await Promise.all([first, timely])).toMatchObject([accepted, accepted]);
    const expired = { sent: false, cause: expect.objectContaining({ reason: 'expired' }) };
    expect(await Promise.all(late)).toEqual([expired, expired]);
    expect(gateway.requests).toHaveLength(2);
    // The expired orders have cost no connection.
    expect(gateway.connections).toBe(2);
  });

  test('is sent at the moment itself, but not a millisecond later', async () => {
    await using gateway = await startScriptedGateway(accept);
    await using open = openClient(gateway.url);
    const date = Date.now;
    try {
      const nowMs = date();
      Date.now = () => nowMs;
      const place = (sendBeforeMs: number) => placeMarket(open, { sendBeforeMs });
      expect(await place(nowMs)).toMatchObject({ sent: true });
      expect(await place(nowMs - 1)).toMatchObject({ sent: false });
    } finally {
      Date.now = date;
    }
  });
});

test('at most half of the orders’ connections wait for late answers', async () => {
  await using gateway = await startScriptedGateway(silence);
  await using open = openClient(gateway.url, { connections: 16, orderTimeoutMs: 300 });
  const onLate = () => {};
  const placed = Array.from({ length: 4 }, (_, account) => {
    const caller = { ...anyCaller, ...provedAs(`account ${account}`) };
    return open.client.order(caller, OPERATIONS.openPosition, marketOrder, { onLate });
  });
  const unknown = { sent: true, answered: false, reason: 'timeout' };
  expect(await Promise.all(placed)).toMatchObject(Array(4).fill(unknown));
  // Orders have four of the sixteen connections. Two of them are closed at the deadline.
  await eventually(() => expect(gateway.openConnections).toBe(2));
});

test('at most half of an account’s share of connections waits for late answers', async () => {
  await using gateway = await startScriptedGateway(silence);
  await using open = openClient(gateway.url, { connections: 128, orderTimeoutMs: 300 });
  const onLate = () => {};
  const place = (caller: Caller) =>
    open.client.order(caller, OPERATIONS.openPosition, marketOrder, { onLate });
  const callers = ['one', 'other'].map((account) => ({ ...anyCaller, ...provedAs(account) }));
  await Promise.all(callers.flatMap((caller) => Array.from({ length: 6 }, () => place(caller))));
  // Each of the two accounts may use eight connections for orders, and four of them for late answers.
  await eventually(() => expect(gateway.openConnections).toBe(2 * 4));
});

test('no order is sent on a used connection', async () => {
  await using gateway = await startScriptedGateway((socket, { method }) => {
    socket.write(
      answer(
        200,
        { ...ACCEPTED, ...CUSTOMER_ID.toWire({ customerId: method }) },
        { 'keep-alive': 'timeout=60' },
      ),
    );
  });
  await using open = openClient(gateway.url);
  for (let order = 0; order < 3; order += 1) {
    await placeMarket(open);
    await open.client.order(anyCaller, OPERATIONS.placeLimitOrder, limitOrder);
    await open.client.read(anyCaller, OPERATIONS.getCustomerId);
  }
  const connectionsOf = (verb: string) => {
    const requests = gateway.requests.filter(({ method }) => method === verb);
    return new Set(requests.map(({ connection }) => connection));
  };
  expect(connectionsOf('POST').size).toBe(6);
  expect(connectionsOf('GET').size).toBe(1);
  await eventually(() => expect(gateway.openConnections).toBe(1));
});

test('a second answer on a connection is not taken for the answer to the next order', async () => {
  await using gateway = await startScriptedGateway((socket) => {
    const whole = answer(200, ACCEPTED);
    const poison = answer(200, { ...ACCEPTED, ...accepted('another order') });
    socket.write(Buffer.concat([whole, poison]));
  });
  await using open = openClient(gateway.url, NARROW);
  for (let order = 0; order < 10; order += 1) {
    const exchange = await placeMarket(open);
    const body = exchange.sent && exchange.answered ? exchange.bytes.toString() : '';
    expect(JSON.parse(body)).toEqual(ACCEPTED);
  }
});

test('a request that undici would resend after a lost connection is not resent', async () => {
  await using gateway = await startScriptedGateway(silence);
  const pool = new PipeliningPool(gateway.url, { connections: 1, pipelining: 2 });
  const close = () => pool.destroy();
  const pools: Pools = { byArea: new Map(), widths: {}, prefix: '', of: () => pool, close };
  await using open = openClient(gateway.url, { pools });
  const reads = [
    open.client.read(anyCaller, OPERATIONS.getCustomerId),
    open.client.read(anyCaller, OPERATIONS.getWithdrawalMethods),
  ];
  const settled = Promise.allSettled(reads);
  await eventually(() => expect(gateway.requests).toHaveLength(2));
  expect(gateway.connections).toBe(1);
  gateway.reset();
  const failed = { status: 'rejected', reason: { kind: 'unavailable' } };
  expect(await settled).toMatchObject([failed, failed]);
  expect(gateway.requests).toHaveLength(2);
});

test('when the pools close, a waiting order ends unsent, and a sent order ends unknown', async () => {
  await using gateway = await startScriptedGateway(silence);
  await using open = openClient(gateway.url, NARROW);
  const first = placeMarket(open);
  await eventually(() => expect(gateway.requests).toHaveLength(1));
  const second = placeMarket(open);
  await open.pools.close();
  expect(await first).toMatchObject({ sent: true, answered: false, reason: 'connection' });
  expect(await second).toMatchObject({ sent: false });
  expect(await placeMarket(open)).toMatchObject({ sent: false });
  expect(gateway.requests).toHaveLength(1);
});

test.each<[string, Partial<MarketOrder>, object]>([
  ['units', {}, orderBody()],
  [
    'levels by price and money',
    { stopLoss: { by: 'price', value: 90 }, takeProfit: { by: 'amount', value: 6 } },
    orderBody({ sl: 90, tpAmount: 6 }),
  ],
])('an order with %s sends exactly the requested fields', async (_, change, body) => {
  await using gateway = await startScriptedGateway(accept);
  await using open = openClient(gateway.url);
  await open.client.order(anyCaller, OPERATIONS.openPosition, { ...marketOrder, ...change });
  expect(JSON.parse(String(gateway.requests[0]?.body))).toEqual(body);
});

/** Sends several requests at once on one connection. undici resends requests only in this case. */
class PipeliningPool extends Pool {
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) {
    return super.dispatch({ ...options, blocking: false }, handler);
  }
}
