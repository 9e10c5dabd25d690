import { type Dispatcher, Pool } from 'undici';
import { describe, expect, test } from 'vitest';
import type { Pools } from '../../src/gateway/pools.ts';
import { READS } from '../../src/gateway/wire/reads.ts';
import { eventually } from '../support/eventually.ts';
import { answer, type Script, startScriptedGateway } from '../support/scripted-gateway.ts';
import { anyCaller, limitOrder, marketOrder, openClient } from './open-client.ts';

const ACCEPTED = { success: true, orderId: '1', err: '', message: '' };
const accept: Script = (socket) => socket.write(answer(200, ACCEPTED));
const silence: Script = () => {};
/** Three pools of one connection each. */
const NARROW = { connections: 3 };

describe('an order that waits for a connection', () => {
  test('was never sent when its deadline passes', async () => {
    await using gateway = await startScriptedGateway(silence);
    await using patient = openClient(gateway.url, NARROW);
    await using hasty = openClient(gateway.url, { pools: patient.pools, orderTimeoutMs: 200 });
    const first = patient.client.openPosition(anyCaller, marketOrder);
    await eventually(() => gateway.requests.length === 1);
    expect(await hasty.client.openPosition(anyCaller, marketOrder)).toMatchObject({ sent: false });
    await patient.pools.close();
    expect(await first).toMatchObject({ sent: true, answered: false });
    expect(gateway.requests).toHaveLength(1);
  });

  test('is not sent on one that is there only after the process was paused beyond the deadline', async () => {
    await using gateway = await startScriptedGateway(accept);
    await using hasty = openClient(gateway.url, { ...NARROW, orderTimeoutMs: 100 });
    const placed = hasty.client.openPosition(anyCaller, marketOrder);
    // The kernel connects meanwhile.
    const pausedUntilMs = performance.now() + 300;
    while (performance.now() < pausedUntilMs);
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
    const first = slow.client.openPosition(anyCaller, marketOrder);
    await eventually(() => answers.length === 1);
    const givenUp = await Promise.all(
      Array.from({ length: 20 }, () => hasty.client.openPosition(anyCaller, marketOrder)),
    );
    expect(givenUp.map(({ sent }) => sent)).toEqual(givenUp.map(() => false));

    const last = slow.client.placeLimitOrder(anyCaller, limitOrder);
    answers[0]?.();
    expect(await first).toMatchObject({ answered: true, status: 200 });
    await eventually(() => answers.length === 2);
    answers[1]?.();
    expect(await last).toMatchObject({ answered: true, status: 200 });
    expect(gateway.requests.map(({ path }) => path)).toEqual([
      '/trading/positions',
      '/trading/positions/limit',
    ]);
    expect(gateway.connections).toBe(2);
  });
});

describe('the AbortSignal of a client', () => {
  test('aborts a read, and frees its connection', async () => {
    await using gateway = await startScriptedGateway(silence);
    await using open = openClient(gateway.url, NARROW);
    const controller = new AbortController();
    const read = open.client.read(
      { ...anyCaller, signal: controller.signal },
      READS.getCustomerId,
      {},
    );
    await eventually(() => gateway.requests.length === 1);
    controller.abort();
    await expect(read).rejects.toMatchObject({ kind: 'unavailable' });
    await eventually(() => gateway.openConnections === 0);
  });

  test('does not abort a write: neither one in flight, nor one that waits', async () => {
    const answers: (() => void)[] = [];
    await using gateway = await startScriptedGateway((socket) => {
      answers.push(() => socket.write(answer(200, ACCEPTED)));
    });
    await using open = openClient(gateway.url, NARROW);
    const { client } = open;
    const controller = new AbortController();
    const caller = { ...anyCaller, signal: controller.signal };
    const writes = [
      client.openPosition(caller, marketOrder),
      client.placeLimitOrder(caller, limitOrder),
      client.write(caller, 'setValue', { key: 'theme', value: 'dark' }),
      client.write(caller, 'addCryptoWallet', { address: 'x' }),
    ];
    await eventually(() => answers.length === 2);
    controller.abort();
    const late = client.openPosition(caller, marketOrder);
    for (let sent = 0; sent < 5; sent += 1) {
      await eventually(() => answers.length > sent);
      answers[sent]?.();
    }
    const accepted = { sent: true, answered: true, status: 200 };
    expect(await Promise.all([...writes, late])).toMatchObject([
      accepted,
      accepted,
      { outcome: 'acknowledged' },
      { outcome: 'acknowledged' },
      accepted,
    ]);
  });

  test('can be shared by many reads', async () => {
    await using place = await startScriptedGateway((socket) => {
      socket.write(answer(200, { customerId: '1' }));
    });
    await using open = openClient(place.url);
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    const { signal } = new AbortController();
    await Promise.all(
      Array.from({ length: 30 }, () =>
        open.client.read({ ...anyCaller, signal }, READS.getCustomerId, {}),
      ),
    );
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });
});

test('no order goes out on a connection that another call was sent on', async () => {
  await using gateway = await startScriptedGateway((socket, { method }) => {
    socket.write(answer(200, { ...ACCEPTED, customerId: method }, { 'keep-alive': 'timeout=60' }));
  });
  await using open = openClient(gateway.url);
  for (let order = 0; order < 3; order += 1) {
    await open.client.openPosition(anyCaller, marketOrder);
    await open.client.placeLimitOrder(anyCaller, limitOrder);
    await open.client.read(anyCaller, READS.getCustomerId, {});
  }
  const used = (verb: string) =>
    gateway.requests.filter(({ method }) => method === verb).map(({ connection }) => connection);
  expect(new Set(used('POST')).size).toBe(6);
  expect(new Set(used('GET')).size).toBe(1);
  await eventually(() => gateway.openConnections === 1);
});

test("an unrequested answer is not taken for the next order's", async () => {
  await using gateway = await startScriptedGateway((socket) => {
    const whole = answer(200, ACCEPTED);
    const poison = answer(200, { ...ACCEPTED, orderId: 'somebody else' });
    socket.write(Buffer.concat([whole, poison]));
  });
  await using open = openClient(gateway.url, NARROW);
  for (let order = 0; order < 10; order += 1) {
    const exchange = await open.client.openPosition(anyCaller, marketOrder);
    const body = exchange.sent && exchange.answered ? exchange.bytes.toString() : '';
    expect(JSON.parse(body)).toEqual(ACCEPTED);
  }
});

test('a request that undici would resend after a lost connection is not resent', async () => {
  await using gateway = await startScriptedGateway(silence);
  const pool = new PipeliningPool(gateway.url, { connections: 1, pipelining: 2 });
  const close = () => pool.destroy();
  const none = { byArea: new Map(), widths: {}, mostLate: 0, prefix: '' };
  const pools: Pools = { ...none, of: () => pool, close };
  await using open = openClient(gateway.url, { pools });
  const reads = [
    open.client.read(anyCaller, READS.getCustomerId, {}),
    open.client.read(anyCaller, READS.getWithdrawalMethods, {}),
  ];
  const settled = Promise.allSettled(reads);
  await eventually(() => gateway.requests.length === 2);
  expect(gateway.connections).toBe(1);
  gateway.reset();
  const failed = { status: 'rejected', reason: { kind: 'unavailable' } };
  expect(await settled).toMatchObject([failed, failed]);
  expect(gateway.requests).toHaveLength(2);
});

test('when the pools close, waiting orders were not sent and the others have an unknown outcome', async () => {
  await using gateway = await startScriptedGateway(silence);
  await using open = openClient(gateway.url, NARROW);
  const first = open.client.openPosition(anyCaller, marketOrder);
  await eventually(() => gateway.requests.length === 1);
  const second = open.client.openPosition(anyCaller, marketOrder);
  await open.pools.close();
  expect(await first).toMatchObject({ sent: true, answered: false, reason: 'connection' });
  expect(await second).toMatchObject({ sent: false });
  expect(await open.client.openPosition(anyCaller, marketOrder)).toMatchObject({ sent: false });
  expect(gateway.requests).toHaveLength(1);
});

/** Several requests at a time on one connection: the one way in which undici repeats a request. */
class PipeliningPool extends Pool {
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) {
    return super.dispatch({ ...options, blocking: false }, handler);
  }
}
