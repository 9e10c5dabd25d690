import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import type { FacadeProcess } from '../../support/facade-process.ts';
import { seriesValue } from '../operations/scraped.ts';
import { startOrderProcess } from './order-process.ts';
import { buying } from './order-request.ts';

const SLOW_MS = 300;
const ORDER_TIMEOUT_MS = 1_000;
const TIMEOUT = { ORDER_TIMEOUT_MS: String(ORDER_TIMEOUT_MS) };

/** The deadlines of its orders pass meanwhile. */
async function freeze(facade: FacadeProcess): Promise<void> {
  facade.signal('SIGSTOP');
  await delay(2 * ORDER_TIMEOUT_MS);
  facade.signal('SIGCONT');
}

test('an order that was answered while the process was frozen beyond its deadline has its outcome', async () => {
  await using stage = await startOrderProcess(SLOW_MS, TIMEOUT);
  const { sandbox, facade, client } = stage;
  for (let order = 1; order <= 3; order += 1) {
    const placed = client.place(buying(`${order}`, 'TEST.SLOW'));
    await eventually(() => sandbox.calls('openPosition') === order);
    await freeze(facade);
    expect(sandbox.orders()).toHaveLength(order);
    expect(await placed).toMatchObject({ type: 'OrderAccepted', replayed: false });
  }
});

test('an order that waited for a connection when the process froze is not sent after its deadline', async () => {
  await using stage = await startOrderProcess(SLOW_MS, { ...TIMEOUT, GATEWAY_CONNECTIONS: '3' });
  const { sandbox, facade, client } = stage;
  const first = client.place(buying('first', 'TEST.SLOW'));
  await eventually(() => sandbox.calls('openPosition') === 1);
  const second = client.place(buying('second', 'AAPL'));
  await eventually(
    async () => (await seriesValue(facade, 'gateway_calls_waiting{area="orders"}')) === 1,
  );
  await freeze(facade);
  expect(await first).toMatchObject({ type: 'OrderAccepted' });
  expect(await second).toMatchObject({ kind: 'error', code: 'GATEWAY_UNAVAILABLE' });
  expect(sandbox.calls('openPosition')).toBe(1);
});
