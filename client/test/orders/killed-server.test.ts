import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { startSandbox } from '../../../sandbox/start.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { startFacadeProcess } from '../../../test/support/facade-process.ts';
import { createScriptedClock } from '../../../test/support/scripted-clock.ts';
import { createMemoryStorage } from '../support/memory-storage.ts';
import { openOrderCore } from '../support/order-core.ts';
import { startOrderLine } from '../support/order-line.ts';
import { buying } from '../support/phone.ts';

test('an order under way when the server is killed is repeated to the next one, and not carried out twice', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'client-orders-'));
  const clock = createScriptedClock(systemClock.now());
  await using sandbox = await startSandbox({ tickMs: 0, instruments: 40, clock });
  await using facade = await startFacadeProcess({
    GATEWAY_URL: sandbox.url,
    ORDER_STORE: join(folder.path, 'orders.db'),
    ORDER_TIMEOUT_MS: '5000',
  });
  // Its address stays, whatever port the next server has.
  await using line = await startOrderLine(() => facade.url);
  const token = sandbox.token({ email: 'demo@example.com' });
  const storage = createMemoryStorage();
  const open = () => openOrderCore({ url: line.url, token: () => token, storage });
  const { orders, core } = open();
  await core.account();
  // The gateway carries it out later, when nobody waits for its answer any more.
  sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 1_000 });
  const ticket = orders.ticket();
  const placing = ticket.place(buying('killed'), { withinMs: 120_000 });
  await eventually(() => sandbox.calls('openPosition') === 1);
  await facade.kill();
  await clock.advance(1_000);
  await facade.start();
  expect(await placing).toMatchObject({ status: 'unknown', error: null });
  await eventually(() => sandbox.orders().length === 1);
  expect(await open().orders.resume()).toMatchObject([{ outcome: { status: 'unknown' } }]);
  expect(await ticket.place(buying('killed'))).toMatchObject({ status: 'unknown' });
  expect(sandbox.calls('openPosition')).toBe(1);
});
