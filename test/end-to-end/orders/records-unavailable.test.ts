import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/own-folder.ts';
import { outcomesOf } from '../operations/request-lines.ts';
import { seriesValue } from '../operations/scraped.ts';
import { startOrderFacade } from './order-facade.ts';
import { buying, type GraphQLBody, placing, waiting } from './order-request.ts';

const UNAVAILABLE = { kind: 'error', code: 'IDEMPOTENCY_UNAVAILABLE' };

async function readiness(url: string) {
  const response = await fetch(`${url}/health/ready`);
  return { code: response.status, body: await response.json() };
}

test('a full store refuses orders before they are sent', async () => {
  await using facade = await startOrderFacade({}, {}, { orderRecordsMax: 2 });
  const { sandbox } = facade;
  const client = facade.client();
  for (const key of ['one', 'two']) {
    expect(await client.place(buying(key))).toMatchObject({ type: 'OrderAccepted' });
  }
  for (const transport of ['http', 'socket'] as const) {
    expect(await client.place(buying('one more'), { transport })).toMatchObject(UNAVAILABLE);
    expect(await client.place(waiting('one more'), { transport })).toMatchObject(UNAVAILABLE);
  }
  expect(sandbox.calls('openPosition') + sandbox.calls('placeLimitOrder')).toBe(2);
  expect(await client.place(buying('one'))).toMatchObject({ replayed: true });
  expect(await client.placed('one more')).toEqual({ kind: 'nothing' });
  expect(await readiness(facade.url)).toEqual({
    code: 200,
    body: { status: 'degraded', reasons: ['order-store'] },
  });
  expect(await seriesValue(facade, 'degraded{reason="order-store"}')).toBe(1);
  await eventually(() => expect(outcomesOf(facade, UNAVAILABLE.code)).toEqual(['fault']));
});

test('an order of an account over its share is refused unsent, others are not, and rejected orders make room', async () => {
  await using facade = await startOrderFacade({ ORDER_RECORDS_PER_ACCOUNT: '4' });
  const { sandbox } = facade;
  const flooding = facade.client();
  sandbox.fail({ operation: 'openPosition', kind: 'status', status: 422, times: 4 });
  for (const key of ['r1', 'r2', 'r3', 'r4']) {
    expect(await flooding.place(buying(key))).toMatchObject({ type: 'OrderRejected' });
  }
  for (const key of ['k1', 'k2', 'k3', 'k4']) {
    expect(await flooding.place(buying(key))).toMatchObject({ type: 'OrderAccepted' });
  }
  const body = (await flooding.send(placing(waiting('one more')))) as GraphQLBody;
  expect(body.errors?.[0]?.extensions).toMatchObject({
    code: 'IDEMPOTENCY_UNAVAILABLE',
    retryable: false,
    limit: 'ORDER_RECORDS_PER_ACCOUNT',
  });
  expect(sandbox.calls('placeLimitOrder')).toBe(0);
  for (const [series, value] of [
    ['refusals_total{limit="ORDER_RECORDS_PER_ACCOUNT"}', 1],
    ['degraded{reason="order-store"}', 0],
    ['orders_total{outcome="unsent"}', 0],
  ] as const) {
    expect(await seriesValue(facade, series), series).toBe(value);
  }
  expect(await flooding.place(buying('k2'))).toMatchObject({ replayed: true });
  const other = facade.client({ email: 'user-2@example.com' });
  expect(await other.place(buying('k1'))).toMatchObject({ type: 'OrderAccepted' });
  expect(await readiness(facade.url)).toEqual({ code: 200, body: { status: 'ok' } });
  await eventually(() => expect(outcomesOf(facade, UNAVAILABLE.code)).toEqual(['refused']));
});

test('a recorded key is answered while nothing can be written', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'orders.db');
  await using facade = await startOrderFacade({ ORDER_STORE: path });
  const { sandbox } = facade;
  const client = facade.client();
  const file = new DatabaseSync(path);
  // Asks for the outcome of a key in each way.
  const asking = () =>
    Promise.all([client.place(buying('lost')), client.placed('lost'), client.void('lost')]);
  const replayed = { type: 'OrderAccepted', replayed: true };
  const lost = client.place(buying('lost'), {
    disconnectsAfter: eventually(() => expect(sandbox.orders()).toHaveLength(1)),
  });
  await lost;
  await eventually(async () => expect(await client.placed('lost')).toMatchObject(replayed));
  file.exec('BEGIN IMMEDIATE');
  expect(await asking()).toMatchObject([replayed, replayed, replayed]);
  // The records show that no other request had this key.
  expect(await client.place(buying('new'))).toMatchObject({
    ...UNAVAILABLE,
    earlierUnknown: false,
    message: 'This request was not sent, and no earlier one with its key is recorded.',
  });
  expect(await client.placed('new')).toEqual({ kind: 'nothing' });
  file.exec('ROLLBACK');
  file.exec('BEGIN EXCLUSIVE');
  const unknown = { ...UNAVAILABLE, earlierUnknown: true };
  // `placedOrder` has the same message, so the message must not advise to use it.
  const message = expect.stringContaining('was sent: ask again with the same key');
  const answers = await asking();
  expect(answers).toMatchObject([{ ...unknown, message }, { ...unknown, message }, unknown]);
  expect(JSON.stringify(answers)).not.toContain('order was not sent');
  file.close();
  expect(sandbox.calls('openPosition')).toBe(1);
});
