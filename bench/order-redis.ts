/** How long an order takes with a Redis that is so far away. `node bench/order-redis.ts [--source <folder>]` prints Markdown. */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { OrderClient } from '../test/end-to-end/orders/order-client.ts';
import { buying } from '../test/end-to-end/orders/order-request.ts';
import { redisServerPath } from '../test/support/machine.ts';
import { startTestRedis } from '../test/support/redis.ts';
import { startSwitchboard } from '../test/support/switchboard.ts';
import { table } from './support/markdown.ts';
import { median } from './support/statistics.ts';

const DELAYS_MS = [0, 2, 5, 20];
const ORDERS = 50;
const WARM_ORDERS = 200;

const { values } = parseArgs({
  options: { source: { type: 'string', default: join(import.meta.dirname, '..') } },
});
const source = resolve(values.source);
const { startApp } = await import(`${source}/src/app.ts`);
const { readConfig } = await import(`${source}/src/config.ts`);

if (redisServerPath === null) throw new Error('there is no redis-server here');
await using redis = await startTestRedis(redisServerPath);
const rows: string[][] = [];
for (const delayMs of DELAYS_MS) {
  await using far = await startSwitchboard(redis.url);
  // Of each direction.
  far.delayMs = delayMs / 2;
  const { href } = Object.assign(new URL(redis.url), { host: far.address });
  const app = await startApp(
    readConfig({
      ...{ REDIS_URL: href, PORT: '0', ADMIN_PORT: '0', LOG_LEVEL: 'silent' },
      ORDER_RECORDS_PER_ACCOUNT: '100000',
      RATE_LIMIT_PER_MINUTE: '1000000',
    }),
  );
  const client = new OrderClient(app, app.sandbox.token({ email: 'pro@example.com' }));
  const taken: number[] = [];
  for (let at = 0; at < WARM_ORDERS + ORDERS; at += 1) {
    const startedAtMs = performance.now();
    const reply = await client.place(buying(`${delayMs}-${at}`));
    if (!('type' in reply) || reply.type !== 'OrderAccepted')
      throw new Error(JSON.stringify(reply));
    taken.push(performance.now() - startedAtMs);
  }
  rows.push([`${delayMs} ms`, median(taken.slice(WARM_ORDERS)).toFixed(1)]);
  await app.close();
}
process.stdout.write(`${table(['Redis is away by', 'an order, median ms'], rows)}\n`);
await redis[Symbol.asyncDispose]();
process.exit(0);
