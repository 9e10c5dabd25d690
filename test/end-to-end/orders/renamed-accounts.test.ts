import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Environment } from '../../../src/config.ts';
import { startSandbox } from '../../../src/sandbox/start.ts';
import type { TestApp } from '../../support/app.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/own-folder.ts';
import { readinessOf } from '../../support/readiness.ts';
import { startTestRedis } from '../../support/redis.ts';
import { startOrderFacade } from './order-facade.ts';
import { marketOrder, placeMutation, replyOf } from './order-request.ts';

const REPLAYED = { type: 'OrderAccepted', replayed: true };
const REFUSED = { kind: 'error', code: 'IDEMPOTENCY_UNAVAILABLE', earlierUnknown: true };

// An account is named by its login and by the request's values of these headers. Its records are kept under this name.
const NAME =
  'with another GATEWAY_FORWARD_HEADERS no order is accepted while there are records by the former account names';

test(`${NAME}: a file`, async () => {
  await using folder = await temporaryFolder();
  await checkRenamed({ ORDER_STORE: join(folder.path, 'orders.db') });
});

describeWithRedis('Redis', (path) => {
  test(NAME, async () => {
    await using redis = await startTestRedis(path);
    await checkRenamed({ REDIS_URL: redis.url });
  });
});

async function checkRenamed(store: Environment): Promise<void> {
  await using sandbox = await startSandbox({ seed: 'renamed', instruments: 5, tickMs: 0 });
  const token = sandbox.token({ email: 'user-1@example.com' });
  const placeBy = async ({ query }: TestApp, key: string) => {
    const message = placeMutation(marketOrder(key));
    return replyOf(await query(message.query, { ...message, token }));
  };
  await using before = await startOrderFacade(store, sandbox);
  // Orders are refused until Redis is connected. Such a request sends nothing, so the next one with its key is no replay.
  await eventually(async () =>
    expect(await placeBy(before, 'first')).toMatchObject({ replayed: false }),
  );
  const changed = { ...store, GATEWAY_FORWARD_HEADERS: 'x-brand' };
  await using after = await startOrderFacade(changed, sandbox);
  for (const key of ['first', 'second']) {
    expect(await placeBy(after, key)).toMatchObject(REFUSED);
  }
  await eventually(async () => {
    const { reasons, details } = await readinessOf(after.adminUrl);
    expect(reasons).toContain('order-store');
    expect(JSON.stringify(details)).toContain('another GATEWAY_FORWARD_HEADERS');
  });
  // The process with the former setting still accepts orders.
  expect(await placeBy(before, 'first')).toMatchObject(REPLAYED);
  expect(await placeBy(before, 'second')).toMatchObject({ replayed: false });
  expect(sandbox.orders().map(({ comment }) => comment)).toEqual(['first', 'second']);
}
