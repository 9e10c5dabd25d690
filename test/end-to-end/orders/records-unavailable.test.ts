import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { outcomesOf } from '../operations/request-lines.ts';
import { seriesValue } from '../operations/scraped.ts';
import { startOrderFacade } from './order-facade.ts';
import { type GraphQLBody, limitOrder, marketOrder, placeMutation } from './order-request.ts';

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
    expect(await client.place(marketOrder(key))).toMatchObject({ type: 'OrderAccepted' });
  }
  for (const transport of ['http', 'socket'] as const) {
    expect(await client.place(marketOrder('one more'), { transport })).toMatchObject(UNAVAILABLE);
    expect(await client.place(limitOrder('one more'), { transport })).toMatchObject(UNAVAILABLE);
  }
  expect(sandbox.calls('openPosition') + sandbox.calls('placeLimitOrder')).toBe(2);
  expect(await client.place(marketOrder('one'))).toMatchObject({ replayed: true });
  expect(await client.placedOrder('one more')).toEqual({ kind: 'nothing' });
  expect(await readiness(facade.url)).toEqual({
    code: 200,
    body: { status: 'degraded', reasons: ['order-store'] },
  });
  expect(await seriesValue(facade, 'degraded{reason="order-store"}')).toBe(1);
  await eventually(() => expect(outcomesOf(facade, UNAVAILABLE.code)).toEqual(['fault']));
});

test('an account’s accepted orders fill its share of records, and further orders are refused unsent', async () => {
  await using facade = await startOrderFacade({ ORDER_RECORDS_PER_ACCOUNT: '4' });
  const { sandbox } = facade;
  const flooding = facade.client();
  for (const key of ['k1', 'k2', 'k3', 'k4']) {
    expect(await flooding.place(marketOrder(key))).toMatchObject({ type: 'OrderAccepted' });
  }
  const body = (await flooding.send(placeMutation(limitOrder('one more')))) as GraphQLBody;
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
  expect(await flooding.place(marketOrder('k2'))).toMatchObject({ replayed: true });
  // Another account has its own share.
  const other = facade.client({ email: 'user-2@example.com' });
  expect(await other.place(marketOrder('k1'))).toMatchObject({ type: 'OrderAccepted' });
  expect(await readiness(facade.url)).toEqual({ code: 200, body: { status: 'ok' } });
  await eventually(() => expect(outcomesOf(facade, UNAVAILABLE.code)).toEqual(['refused']));
});
