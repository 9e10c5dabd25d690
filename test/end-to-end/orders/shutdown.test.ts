import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Environment } from '../../../src/config.ts';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { compileCache } from '../../support/compile-cache.ts';
import { withEarlierStore } from '../../support/earlier-store.ts';
import { eventually } from '../../support/eventually.ts';
import { type FacadeProcess, startFacadeProcess } from '../../support/facade-process.ts';
import { temporaryFolder } from '../../support/own-folder.ts';
import { PROGRAM } from '../../support/program.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { OrderClient } from './order-client.ts';
import { marketOrder } from './order-request.ts';

const SLOW = marketOrder('slow', 'TEST.SLOW');
const SLOW_MS = 1_000;

/** Starts the service as a separate process, with a file of order records. The gateway answers slow orders on command. */
async function startStage(environment: Environment = {}) {
  await using opened = new AsyncDisposableStack();
  const clock = createScriptedClock(Date.now());
  const folder = opened.use(await temporaryFolder());
  const gateway = { tickMs: 0, instruments: 40, clock, slowMs: SLOW_MS };
  const sandbox = opened.use(await startSandbox(gateway));
  const store = { ORDER_STORE: join(folder.path, 'orders.db') };
  const settings = await withEarlierStore({ GATEWAY_URL: sandbox.url, ...store, ...environment });
  const facade = opened.use(await startFacadeProcess(settings));
  const token = sandbox.token({ email: 'user-1@example.com' });
  const client = opened.adopt(new OrderClient(facade, token), (each) => each.close());
  const parts = opened.move();
  return {
    sandbox,
    facade,
    client,
    answerSlowOrders: () => clock.advance(SLOW_MS),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** Sends SIGTERM, and waits until the service has begun to shut down. */
async function drain(facade: FacadeProcess): Promise<void> {
  facade.signal('SIGTERM');
  await eventually(() => facade.logged.some((line) => line.includes('"msg":"draining"')));
}

test.concurrent('orders in flight at SIGTERM are answered and recorded', async () => {
  await using stage = await startStage();
  const { sandbox, facade, client, answerSlowOrders } = stage;
  const orders = (['http', 'socket'] as const).map((transport) =>
    client.place(marketOrder(transport, 'TEST.SLOW'), { transport }),
  );
  await eventually(() => expect(sandbox.calls('openPosition')).toBe(2));
  await drain(facade);
  // npm repeats a signal of the terminal, so the service must ignore a second signal.
  facade.signal('SIGTERM');
  await answerSlowOrders();
  const answers = await Promise.all(orders);
  for (const answer of answers) {
    expect(answer).toMatchObject({ type: 'OrderAccepted', replayed: false });
  }
  expect(await facade.ended()).toBe(0);
  await facade.start();
  for (const { comment, orderId } of sandbox.orders()) {
    const outcome = { kind: 'outcome', type: 'OrderAccepted', orderId, replayed: true };
    expect(await client.placedOrder(comment)).toEqual(outcome);
  }
});

test.concurrent('a second signal soon after the first, as npm sends one, does not end the service at once', async () => {
  await using stage = await startStage();
  const { sandbox, facade, client, answerSlowOrders } = stage;
  const order = client.place(SLOW);
  await eventually(() => expect(sandbox.calls('openPosition')).toBe(1));
  facade.signal('SIGINT');
  await drain(facade);
  await answerSlowOrders();
  expect(await order).toMatchObject({ type: 'OrderAccepted' });
  expect(await facade.ended()).toBe(0);
});

test.concurrent('a signal during the start ends the service with code 0', async () => {
  // This Redis accepts the connection, and never answers.
  await using redis = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
  await once(redis, 'listening');
  const { port } = redis.address() as AddressInfo;
  const environment = { REDIS_URL: `redis://127.0.0.1:${port}`, PORT: '0', ADMIN_PORT: '0' };
  const child = spawn(process.execPath, [PROGRAM], {
    env: { ...compileCache(), ...environment },
  });
  await once(redis, 'connection');
  // The code shows that the service itself handles the signal. Process 1 of a container has no default handling.
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test.concurrent('the shutdown waits for an order whose client has left', async () => {
  await using stage = await startStage();
  const { sandbox, facade, client, answerSlowOrders } = stage;
  const inFlight = eventually(() => expect(sandbox.calls('openPosition')).toBe(1));
  const reply = client.place(SLOW, { disconnectsAfter: inFlight });
  expect(await reply).toEqual({ kind: 'cut' });
  await drain(facade);
  await answerSlowOrders();
  expect(await facade.ended()).toBe(0);
  await facade.start();
  expect(await client.placedOrder('slow')).toMatchObject({ type: 'OrderAccepted', replayed: true });
});

test.concurrent('a process that was frozen beyond its deadlines still records the orders that the gateway has answered', async () => {
  // Even a busy machine freezes the process within this time after it has sent its orders.
  const graceMs = 10_000;
  await using stage = await startStage({
    ORDER_TIMEOUT_MS: String(graceMs - 1_000),
    SHUTDOWN_GRACE_MS: String(graceMs),
  });
  const { sandbox, facade, client, answerSlowOrders } = stage;
  const placed = [1, 2, 3].map((order) => client.place(marketOrder(`${order}`, 'TEST.SLOW')));
  await eventually(() => expect(sandbox.calls('openPosition')).toBe(3));
  await drain(facade);
  facade.signal('SIGSTOP');
  await answerSlowOrders();
  await delay(graceMs);
  facade.signal('SIGCONT');
  for (const order of placed) {
    expect(await order).toMatchObject({ type: 'OrderAccepted', replayed: false });
  }
  expect(await facade.ended()).toBe(0);
  await facade.start();
  for (const { comment, orderId } of sandbox.orders()) {
    expect(await client.placedOrder(comment)).toMatchObject({ type: 'OrderAccepted', orderId });
  }
});

test.concurrent('an order that the gateway never answers delays the shutdown only until the order’s deadline', async () => {
  await using stage = await startStage({ ORDER_TIMEOUT_MS: '1000' });
  const { sandbox, facade, client } = stage;
  const order = client.place(SLOW);
  await eventually(() => expect(sandbox.calls('openPosition')).toBe(1));
  facade.signal('SIGTERM');
  expect(await order).toMatchObject({ type: 'OrderOutcomeUnknown', replayed: false });
  expect(await facade.ended()).toBe(0);
  await facade.start();
  expect(await client.placedOrder('slow')).toMatchObject({ type: 'OrderOutcomeUnknown' });
});

test.concurrent('an order in flight at a SIGKILL has an unknown outcome afterwards, and is not sent again', async () => {
  // The record of an unfinished order stays pending until its deadline.
  await using stage = await startStage({ ORDER_TIMEOUT_MS: '8000' });
  const { sandbox, facade, client, answerSlowOrders } = stage;
  const order = client.place(SLOW);
  await eventually(() => expect(sandbox.calls('openPosition')).toBe(1));
  await facade.kill();
  expect(await order).toEqual({ kind: 'cut' });
  expect(await facade.ended()).toBe(null);
  await answerSlowOrders();
  await facade.start();
  const unknown = { type: 'OrderOutcomeUnknown', replayed: true };
  expect(await client.placedOrder('slow')).toMatchObject(unknown);
  expect(await client.place(SLOW)).toMatchObject(unknown);
  await eventually(() => expect(sandbox.orders()).toHaveLength(1));
  expect(sandbox.calls('openPosition')).toBe(1);
});
