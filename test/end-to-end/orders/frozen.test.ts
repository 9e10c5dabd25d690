import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { eventually } from '../../support/eventually.ts';
import { type FacadeProcess, startFacadeProcess } from '../../support/facade-process.ts';
import { seriesValue } from '../operations/scraped.ts';
import { OrderClient } from './order-client.ts';
import { buying } from './order-request.ts';

const ORDER_TIMEOUT_MS = 1_000;

async function startStage(environment: Readonly<Record<string, string>> = {}) {
  await using opened = new AsyncDisposableStack();
  const sandbox = opened.use(await startSandbox({ tickMs: 0, instruments: 40, slowMs: 300 }));
  const facade = opened.use(
    await startFacadeProcess({
      GATEWAY_URL: sandbox.url,
      ORDER_STORE: 'memory',
      ORDER_TIMEOUT_MS: String(ORDER_TIMEOUT_MS),
      ...environment,
    }),
  );
  const token = sandbox.token({ email: 'user-1@example.com' });
  const client = opened.adopt(new OrderClient(facade, token), (each) => each.close());
  const parts = opened.move();
  return { sandbox, facade, client, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

/** The deadlines of its orders pass meanwhile. */
async function freeze(facade: FacadeProcess): Promise<void> {
  facade.signal('SIGSTOP');
  await delay(2 * ORDER_TIMEOUT_MS);
  facade.signal('SIGCONT');
}

test('an order that was answered while the process was frozen beyond its deadline has its outcome', async () => {
  await using stage = await startStage();
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
  await using stage = await startStage({ GATEWAY_CONNECTIONS: '3' });
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
