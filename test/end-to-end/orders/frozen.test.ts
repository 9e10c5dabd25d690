import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { startOrderProcess } from './order-process.ts';
import { buying } from './order-request.ts';

const SLOW_MS = 300;
/** Longer than a busy machine takes to freeze a process that has sent its orders. */
const ORDER_TIMEOUT_MS = 10_000;

test('orders that were answered while the process was frozen beyond their deadline have their outcome', async () => {
  const clock = createScriptedClock(Date.now());
  const timeout = { ORDER_TIMEOUT_MS: String(ORDER_TIMEOUT_MS) };
  await using stage = await startOrderProcess({ clock, slowMs: SLOW_MS }, timeout);
  const { sandbox, facade, client } = stage;
  const placed = [1, 2, 3].map((order) => client.place(buying(`${order}`, 'TEST.SLOW')));
  await eventually(() => sandbox.calls('openPosition') === 3);
  facade.signal('SIGSTOP');
  // The gateway answers, and the deadlines of all orders pass.
  await clock.advance(SLOW_MS);
  await delay(ORDER_TIMEOUT_MS);
  facade.signal('SIGCONT');
  expect(sandbox.orders()).toHaveLength(3);
  for (const order of placed) {
    expect(await order).toMatchObject({ type: 'OrderAccepted', replayed: false });
  }
});
