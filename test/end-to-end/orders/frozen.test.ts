import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Environment } from '../../../src/config.ts';
import { eventually } from '../../support/eventually.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { seriesValue } from '../operations/scraped.ts';
import { startOrderProcess } from './order-process.ts';
import { buying } from './order-request.ts';

const SLOW_MS = 300;
/** Longer than a busy machine takes to freeze a process that has sent its orders. */
const ORDER_TIMEOUT_MS = 10_000;

/** The gateway answers no slow order before the process is frozen. */
async function startStage(environment: Environment = {}) {
  const clock = createScriptedClock(Date.now());
  const timeout = { ORDER_TIMEOUT_MS: String(ORDER_TIMEOUT_MS) };
  const stage = await startOrderProcess({ clock, slowMs: SLOW_MS }, { ...timeout, ...environment });
  return {
    ...stage,
    /** Meanwhile the gateway answers, and the deadlines of all orders pass. */
    async freeze() {
      stage.facade.signal('SIGSTOP');
      await clock.advance(SLOW_MS);
      await delay(ORDER_TIMEOUT_MS);
      stage.facade.signal('SIGCONT');
    },
  };
}

test.concurrent('orders that were answered while the process was frozen beyond their deadline have their outcome', async () => {
  await using stage = await startStage();
  const { sandbox, client, freeze } = stage;
  const placed = [1, 2, 3].map((order) => client.place(buying(`${order}`, 'TEST.SLOW')));
  await eventually(() => sandbox.calls('openPosition') === 3);
  await freeze();
  expect(sandbox.orders()).toHaveLength(3);
  for (const order of placed) {
    expect(await order).toMatchObject({ type: 'OrderAccepted', replayed: false });
  }
});

test.concurrent('an order that waited for a connection when the process froze is not sent after its deadline', async () => {
  await using stage = await startStage({ GATEWAY_CONNECTIONS: '3' });
  const { sandbox, facade, client, freeze } = stage;
  const first = client.place(buying('first', 'TEST.SLOW'));
  await eventually(() => sandbox.calls('openPosition') === 1);
  const second = client.place(buying('second', 'AAPL'));
  await eventually(
    async () => (await seriesValue(facade, 'gateway_calls_waiting{area="orders"}')) === 1,
  );
  await freeze();
  expect(await first).toMatchObject({ type: 'OrderAccepted' });
  expect(await second).toMatchObject({ kind: 'error', code: 'GATEWAY_UNAVAILABLE' });
  expect(sandbox.calls('openPosition')).toBe(1);
});
