import { expect, test } from 'vitest';
import { startCopiedRedis } from '../../store/redis/failovers.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { keyOf, newKey } from '../../support/order-keys.ts';
import { readinessOf } from '../../support/readiness.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { type OrderFacade, startOrderFacade } from './order-facade.ts';
import {
  type GraphQLBody,
  marketOrder,
  placedOrderQuery,
  placeMutation,
  voidMutation,
} from './order-request.ts';

const UNAVAILABLE = { kind: 'error', code: 'IDEMPOTENCY_UNAVAILABLE', earlierUnknown: true };

/** Starts the service in production mode. */
function startInProduction({ url }: TestRedis, environment: Record<string, string> = {}) {
  return startOrderFacade({ NODE_ENV: 'production', REDIS_URL: url, ...environment });
}

const refusalOf = (start: Promise<OrderFacade>) =>
  start.then(
    async (facade) => {
      await facade[Symbol.asyncDispose]();
      return 'it has started';
    },
    (error: Error) => error.message,
  );

const reasons = async ({ url }: OrderFacade) => (await readinessOf(url)).reasons ?? [];

/** Places an order until it is accepted. */
async function placeUntilAccepted(
  facade: OrderFacade,
  name: string,
  key = () => keyOf(name),
): Promise<unknown> {
  const client = facade.client();
  return eventually(async () => {
    const reply = await client.place(marketOrder(name, 'AAPL', key()));
    expect(reply).toMatchObject({ type: 'OrderAccepted' });
    return reply;
  });
}

describeWithRedis('in production a Redis', (serverPath) => {
  test.concurrent('without appendonly stops the start, with a line that explains the consequence', async () => {
    await using redis = await startTestRedis(serverPath);
    // If Redis answers slowly on a busy machine, the service starts and checks Redis later. Then the test tries again.
    await eventually(async () => {
      const line = await refusalOf(startInProduction(redis));
      expect(line).toMatch(
        /^REDIS_URL=.*: must be a Redis .*appendonly no.* restart would forget orders.* sent again.*REDIS_REPLICAS=none/,
      );
      expect(line).not.toContain('\n');
    });
  });

  test.concurrent('without appendonly is accepted with REDIS_REPLICAS=none, or outside of production', async () => {
    await using redis = await startTestRedis(serverPath);
    await using accepted = await startInProduction(redis, { REDIS_REPLICAS: 'none' });
    await placeUntilAccepted(accepted, 'order in production');
    await using inDevelopment = await startInProduction(redis, { NODE_ENV: 'development' });
    await placeUntilAccepted(inDevelopment, 'order in development');
    // A slow answer of Redis can make the service degraded for a moment.
    for (const facade of [accepted, inDevelopment]) {
      await eventually(async () => expect(await reasons(facade)).toEqual([]));
    }
  });

  test.concurrent('without appendonly is detected after the start too, and then only orders are refused', async () => {
    await using redis = await startTestRedis(serverPath);
    await redis.kill();
    await using facade = await startInProduction(redis);
    await redis.start();
    const client = facade.client();
    await eventually(async () => expect(await reasons(facade)).toEqual(['order-store']));
    expect(await client.place(marketOrder('one'))).toMatchObject(UNAVAILABLE);
    expect(facade.sandbox.calls('openPosition')).toBe(0);
    expect(await client.placedOrder('one')).toEqual({ kind: 'nothing' });
    await redis.command('CONFIG', 'SET', 'appendonly', 'yes');
    await placeUntilAccepted(facade, 'one');
    await eventually(async () => expect(await reasons(facade)).toEqual([]));
    await redis.command('CONFIG', 'SET', 'appendonly', 'no');
    await eventually(async () => expect(await reasons(facade)).toEqual(['order-store']));
    expect(await client.place(marketOrder('after'))).toMatchObject(UNAVAILABLE);
    expect(await client.place(marketOrder('one'))).toMatchObject({ replayed: true });
    expect(await reasons(facade)).toEqual(['order-store']);
    expect(facade.sandbox.calls('openPosition')).toBe(1);
    await facade[Symbol.asyncDispose]();
    // Only the connection of this test is left.
    const clients = async () => String(await redis.command('CLIENT', 'LIST')).match(/^id=/gm) ?? [];
    await eventually(async () => expect(await clients()).toHaveLength(1));
  });

  test.concurrent('with fewer replicas than REDIS_REPLICAS leads to refused orders and a degraded service', async () => {
    await using redis = await startTestRedis(serverPath, { args: ['--appendonly', 'yes'] });
    await using facade = await startInProduction(redis, { REDIS_REPLICAS: '1' });
    const client = facade.client();
    await eventually(async () => expect(await reasons(facade)).toEqual(['redis']));
    await eventually(async () =>
      expect(await client.place(marketOrder('one'))).toMatchObject(UNAVAILABLE),
    );
    expect(facade.sandbox.calls('openPosition')).toBe(0);
    const args = ['--replicaof', `127.0.0.1 ${new URL(redis.url).port}`];
    await using _replica = await startTestRedis(serverPath, { args });
    // The first replica of a Redis changes its replication id, so keys from before are refused.
    await placeUntilAccepted(facade, 'two', newKey);
    await eventually(async () => expect(await reasons(facade)).toEqual([]));
  });

  test.concurrent('that was cut off does not deny an order that its successor has recorded', async () => {
    await using redis = await startCopiedRedis(serverPath, [0, 0]);
    const [successor, copy] = redis.copies.map((each) => each.redis) as [TestRedis, TestRedis];
    const environment = { REDIS_REPLICAS: '1' };
    await using cutOff = await startInProduction(redis.primary, environment);
    const client = cutOff.client();
    await placeUntilAccepted(cutOff, 'before', newKey);
    // A partition: the process and its primary are alone, and elsewhere a replica is promoted.
    for (const { line } of redis.copies) line.cut();
    for (const { line } of redis.copies) line.to();
    await successor.command('REPLICAOF', 'NO', 'ONE');
    await copy.command('REPLICAOF', '127.0.0.1', new URL(successor.url).port);
    await using other = await startOrderFacade(
      { NODE_ENV: 'production', REDIS_URL: successor.url, ...environment },
      cutOff.sandbox,
    );
    let key = '';
    await placeUntilAccepted(other, 'order', () => {
      key = newKey();
      return key;
    });
    const order = marketOrder('order', 'AAPL', key);
    await eventually(async () => expect(await reasons(cutOff)).toContain('redis'));
    const asking = { ...placedOrderQuery('order'), variables: { key } };
    for (const message of [placeMutation(order), asking, voidMutation('order', key)]) {
      const { errors } = (await client.send(message)) as GraphQLBody;
      const extensions = { code: 'IDEMPOTENCY_UNAVAILABLE', earlierUnknown: true };
      expect(errors).toMatchObject([{ extensions }]);
    }
    expect(await other.client().place(order)).toMatchObject({
      type: 'OrderAccepted',
      replayed: true,
    });
    expect(cutOff.sandbox.calls('openPosition')).toBe(2);
  });
});
