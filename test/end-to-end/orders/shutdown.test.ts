import { expect, test } from 'vitest';
import type { Environment } from '../../../src/config.ts';
import { eventually } from '../../support/eventually.ts';
import type { FacadeProcess } from '../../support/facade-process.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { startOrderProcess } from './order-process.ts';
import { buying } from './order-request.ts';

const SLOW = buying('slow', 'TEST.SLOW');
const SLOW_MS = 1_000;

/** The gateway answers a slow order when the test says so. */
async function startStage(environment: Environment = {}) {
  const clock = createScriptedClock(Date.now());
  const stage = await startOrderProcess({ clock, slowMs: SLOW_MS }, environment);
  return { ...stage, answer: () => clock.advance(SLOW_MS) };
}

async function drain(facade: FacadeProcess): Promise<void> {
  facade.signal('SIGTERM');
  await eventually(() => facade.logged.some((line) => line.includes('"msg":"draining"')));
}

test.concurrent('orders in flight at SIGTERM are answered, and recorded where the client has disconnected', async () => {
  await using stage = await startStage();
  const { sandbox, facade, client, answer } = stage;
  const inFlight = eventually(() => sandbox.calls('openPosition') === 3);
  const left = client.place(buying('left', 'TEST.SLOW'), { disconnectsAfter: inFlight });
  const connected = (['http', 'socket'] as const).map((transport) =>
    client.place(buying(transport, 'TEST.SLOW'), { transport }),
  );
  expect(await left).toEqual({ kind: 'cut' });
  await drain(facade);
  await answer();
  for (const order of connected) {
    expect(await order).toMatchObject({ type: 'OrderAccepted', replayed: false });
  }
  expect(await facade.ended()).toBe(0);
  expect(sandbox.orders()).toHaveLength(3);
  await facade.start();
  for (const { comment, orderId } of sandbox.orders()) {
    const outcome = { kind: 'outcome', type: 'OrderAccepted', orderId, replayed: true };
    expect(await client.placed(comment)).toEqual(outcome);
  }
});

test.concurrent('an order whose client has left is waited for, though nothing is connected', async () => {
  await using stage = await startStage();
  const { sandbox, facade, client, answer } = stage;
  const inFlight = eventually(() => sandbox.calls('openPosition') === 1);
  const left = client.place(SLOW, { disconnectsAfter: inFlight });
  expect(await left).toEqual({ kind: 'cut' });
  await drain(facade);
  await answer();
  expect(await facade.ended()).toBe(0);
  await facade.start();
  expect(await client.placed('slow')).toMatchObject({ type: 'OrderAccepted', replayed: true });
});

test.concurrent('an order the gateway never answers keeps the process for its own deadline only', async () => {
  await using stage = await startOrderProcess({ slowMs: 60_000 }, { ORDER_TIMEOUT_MS: '1000' });
  const { sandbox, facade, client } = stage;
  const order = client.place(SLOW);
  await eventually(() => sandbox.calls('openPosition') === 1);
  facade.signal('SIGTERM');
  expect(await order).toMatchObject({ type: 'OrderOutcomeUnknown', replayed: false });
  expect(await facade.ended()).toBe(0);
  await facade.start();
  expect(await client.placed('slow')).toMatchObject({ type: 'OrderOutcomeUnknown' });
});

test.concurrent.each(['second SIGTERM', 'SIGKILL'] as const)(
  'after a %s with an order in flight the outcome is unknown, and nothing is sent again',
  async (end) => {
    // The record of an order that nobody finishes is held until its deadline.
    await using stage = await startStage({ ORDER_TIMEOUT_MS: '8000' });
    const { sandbox, facade, client, answer } = stage;
    const order = client.place(SLOW);
    await eventually(() => sandbox.calls('openPosition') === 1);
    if (end === 'SIGKILL') await facade.kill();
    else {
      await drain(facade);
      facade.signal('SIGTERM');
    }
    expect(await order).toEqual({ kind: 'cut' });
    expect(await facade.ended()).toBe(end === 'SIGKILL' ? null : 1);
    await answer();
    await facade.start();
    const unknown = { type: 'OrderOutcomeUnknown', replayed: true };
    expect(await client.placed('slow')).toMatchObject(unknown);
    expect(await client.place(SLOW)).toMatchObject(unknown);
    await eventually(() => sandbox.orders().length === 1);
    expect(sandbox.calls('openPosition')).toBe(1);
  },
);
