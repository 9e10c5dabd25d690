import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/own-folder.ts';
import { startOrderFacade } from './order-facade.ts';
import { marketOrder } from './order-request.ts';

const UNAVAILABLE = { kind: 'error', code: 'IDEMPOTENCY_UNAVAILABLE' };

test('a recorded key is answered while nothing can be written', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'orders.db');
  await using facade = await startOrderFacade({ ORDER_STORE: path });
  const { sandbox } = facade;
  const client = facade.client();
  const file = new DatabaseSync(path);
  const order = marketOrder('lost');
  // The three requests that return the outcome of a key.
  const askInEachWay = () =>
    Promise.all([client.place(order), client.placedOrder('lost'), client.void('lost')]);
  const replayed = { type: 'OrderAccepted', replayed: true };
  await client.place(order, {
    disconnectsAfter: eventually(() => expect(sandbox.orders()).toHaveLength(1)),
  });
  await eventually(async () => expect(await client.placedOrder('lost')).toMatchObject(replayed));
  // This lock allows reads but no writes.
  file.exec('BEGIN IMMEDIATE');
  expect(await askInEachWay()).toMatchObject([replayed, replayed, replayed]);
  // The records show that no other request had this key.
  expect(await client.place(marketOrder('new'))).toMatchObject({
    ...UNAVAILABLE,
    earlierUnknown: false,
    message: 'This request was not sent, and no earlier one with its key is recorded.',
  });
  expect(await client.placedOrder('new')).toEqual({ kind: 'nothing' });
  file.exec('ROLLBACK');
  // This lock allows neither reads nor writes.
  file.exec('BEGIN EXCLUSIVE');
  const unknown = { ...UNAVAILABLE, earlierUnknown: true };
  // The message is also that of `placedOrder`, so it must not advise to use `placedOrder`.
  const message = expect.stringContaining('was sent: ask again with the same key');
  const answers = await askInEachWay();
  expect(answers).toMatchObject([{ ...unknown, message }, { ...unknown, message }, unknown]);
  expect(JSON.stringify(answers)).not.toContain('order was not sent');
  file.close();
  expect(sandbox.calls('openPosition')).toBe(1);
});
