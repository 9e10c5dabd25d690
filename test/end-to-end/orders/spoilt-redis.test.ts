import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { startFacadeProcess } from '../../support/facade-process.ts';
import { inFull } from '../../support/in-full.ts';
import { startTestRedis } from '../../support/redis.ts';
import { SPOILS, startSpoilingRedis } from '../../support/spoiling-redis.ts';
import { OrderClient } from './order-client.ts';
import { marketOrder, type Reply } from './order-request.ts';

/** A reply must claim nothing that Redis has not answered. */
function isTrue(reply: Reply, sent: number): boolean {
  if (reply.kind === 'cut') return true;
  if (reply.kind === 'error') return reply.code === 'IDEMPOTENCY_UNAVAILABLE' && sent === 0;
  if (reply.kind === 'nothing') return false;
  return reply.type === 'OrderAccepted' && sent === 1;
}

describeWithRedis('a Redis with corrupted replies', (serverPath) => {
  test('does not end the process, causes no second order, and is used again after it recovers', async () => {
    await using redis = await startTestRedis(serverPath);
    await using front = await startSpoilingRedis(redis.url);
    await using sandbox = await startSandbox({ tickMs: 0 });
    await using facade = await startFacadeProcess({
      GATEWAY_URL: sandbox.url,
      REDIS_URL: front.url,
      REDIS_REPLICAS: 'none',
      RATE_LIMIT_PER_MINUTE: '1000000',
    });
    const client = new OrderClient(facade, sandbox.token({ email: 'demo@example.com' }));
    let number = 0;
    const sentOf = (key: string) =>
      sandbox.requests('openPosition').filter(({ body }) => JSON.stringify(body).includes(key))
        .length;
    const placed = async (key: string) =>
      eventually(async () => {
        const reply = await client.place(marketOrder(key));
        expect(reply).toMatchObject({ kind: 'outcome', type: 'OrderAccepted' });
        return reply;
      });
    await placed('first');
    await client.void('voided');
    await client.placedOrder('first');
    await eventually(() => expect(front.scripts.size).toBeGreaterThanOrEqual(7));
    const scripts = [...front.scripts];

    async function tried(name: string, script: string | null): Promise<void> {
      number += 1;
      const key = `spoilt-${number}`;
      front.spoil(SPOILS[name] ?? null, (_command, text) => script === null || text === script);
      const replies = await Promise.all([
        client.place(marketOrder(key)),
        client.placedOrder('first'),
        client.void(`voided-${number}`),
        facade.query('{ session { id } positions { id } }', {
          token: sandbox.token({ email: 'pro@example.com' }),
        }),
      ]);
      const [reply] = replies;
      expect(isTrue(reply, sentOf(key)), `${name}: ${JSON.stringify(reply)}`).toBe(true);
      // Reads need no Redis.
      expect(replies[3].errors, name).toEqual([]);
      if (script === null) await eventually(() => expect(front.spoilt).toBeGreaterThan(5));
      front.spoil(null);
      await placed(key);
      expect(sentOf(key), `${name} of ${script}`).toBe(1);
    }

    const names = Object.keys(SPOILS);
    for (const name of names) await tried(name, null);
    for (const [at, script] of scripts.entries()) {
      const some = names.filter((_, number) => number % scripts.length === at % names.length);
      for (const name of inFull(names, some)) await tried(name, script);
    }
    expect(facade.logged.filter((line) => line.includes('background work failed'))).toEqual([]);
    client.close();
  });
});
