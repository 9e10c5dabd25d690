import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { withEarlierStore } from '../../support/earlier-store.ts';
import { eventually } from '../../support/eventually.ts';
import { startFacadeProcess } from '../../support/facade-process.ts';
import { inFull } from '../../support/in-full.ts';
import { startTestRedis } from '../../support/redis.ts';
import { SPOILS, startSpoilingRedis } from '../../support/spoiling-redis.ts';
import { OrderClient } from './order-client.ts';
import { marketOrder, type Reply } from './order-request.ts';

/** Whether the reply agrees with the number of orders that were sent. */
function isConsistent(reply: Reply, sent: number): boolean {
  if (reply.kind === 'cut') return true;
  if (reply.kind === 'error') return reply.code === 'IDEMPOTENCY_UNAVAILABLE' && sent === 0;
  if (reply.kind === 'nothing') return false;
  return reply.type === 'OrderAccepted' && sent === 1;
}

describeWithRedis('a Redis with corrupted replies', (serverPath) => {
  test('neither ends the process nor causes a second order, and is used again after it recovers', async () => {
    await using redis = await startTestRedis(serverPath);
    await withEarlierStore({ REDIS_URL: redis.url });
    await using front = await startSpoilingRedis(redis.url);
    await using sandbox = await startSandbox({ tickMs: 0 });
    await using facade = await startFacadeProcess({
      GATEWAY_URL: sandbox.url,
      REDIS_URL: front.url,
      REDIS_REPLICAS: 'none',
      RATE_LIMIT_PER_MINUTE: '1000000',
    });
    const client = new OrderClient(facade, sandbox.token({ email: 'demo@example.com' }));
    let tries = 0;
    const sentOrders = (key: string) =>
      sandbox.requests('openPosition').filter(({ body }) => JSON.stringify(body).includes(key))
        .length;
    const placeUntilAccepted = async (key: string) =>
      eventually(async () => {
        const reply = await client.place(marketOrder(key));
        expect(reply).toMatchObject({ kind: 'outcome', type: 'OrderAccepted' });
        return reply;
      });
    await placeUntilAccepted('first');
    await client.void('voided');
    await client.placedOrder('first');
    // These requests and the background work use at least seven scripts.
    await eventually(() => expect(front.scripts.size).toBeGreaterThanOrEqual(7));
    const scripts = [...front.scripts];

    /** Corrupts the replies to one script, or to all commands, while a client uses the service. */
    async function corrupt(name: string, script: string | null): Promise<void> {
      tries += 1;
      const key = `spoilt-${tries}`;
      front.spoil(SPOILS[name] ?? null, (_command, text) => script === null || text === script);
      const replies = await Promise.all([
        client.place(marketOrder(key)),
        client.placedOrder('first'),
        client.void(`voided-${tries}`),
        facade.query('{ session { id } positions { id } }', {
          token: sandbox.token({ email: 'pro@example.com' }),
        }),
      ]);
      const [reply] = replies;
      expect(isConsistent(reply, sentOrders(key)), `${name}: ${JSON.stringify(reply)}`).toBe(true);
      // Reads need no Redis.
      expect(replies[3].errors, name).toEqual([]);
      if (script === null) await eventually(() => expect(front.spoilt).toBeGreaterThan(5));
      front.spoil(null);
      await placeUntilAccepted(key);
      expect(sentOrders(key), `${name} of ${script}`).toBe(1);
    }

    const names = Object.keys(SPOILS);
    for (const name of names) await corrupt(name, null);
    for (const [scriptIndex, script] of scripts.entries()) {
      // A short run tries only some corruptions of each script.
      const remainder = scriptIndex % names.length;
      const some = names.filter((_, nameIndex) => nameIndex % scripts.length === remainder);
      for (const name of inFull(names, some)) await corrupt(name, script);
    }
    expect(facade.logged.filter((line) => line.includes('background work failed'))).toEqual([]);
    client.close();
  });
});
