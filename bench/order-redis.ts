/** How long an order takes with a Redis that is so far away. `node bench/order-redis.ts [--source <folder>]` prints Markdown. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { redisServerPath } from '../test/support/machine.ts';
import { startTestRedis } from '../test/support/redis.ts';
import { table } from './support/markdown.ts';
import { median } from './support/statistics.ts';

const DELAYS_MS = [0, 1, 5, 20];
const ORDERS = 50;
const WARM_ORDERS = 200;
const ORDER = `mutation ($key: String!) {
  placeOrder(input: { symbol: "AAPL", side: BUY, size: { units: 0.01 }, idempotencyKey: $key }) { __typename }
}`;

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
  await using far = await startFarRedis(Number(new URL(redis.url).port), delayMs);
  const url = Object.assign(new URL(redis.url), { port: String(far.port) });
  const environment = { REDIS_URL: url.href, PORT: '0', ADMIN_PORT: '0', LOG_LEVEL: 'silent' };
  const app = await startApp(
    readConfig({
      ...environment,
      ORDER_RECORDS_PER_ACCOUNT: '100000',
      RATE_LIMIT_PER_MINUTE: '1000000',
    }),
  );
  const token = app.sandbox.token({ email: 'pro@example.com' });
  const place = async () => {
    const startedAtMs = performance.now();
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query: ORDER, variables: { key: randomUUID() } }),
    });
    const { data } = (await response.json()) as { data: { placeOrder: { __typename: string } } };
    const { __typename: outcome } = data.placeOrder;
    if (outcome !== 'OrderAccepted') throw new Error(`an order ended as ${outcome}`);
    return performance.now() - startedAtMs;
  };
  for (let at = 0; at < WARM_ORDERS; at += 1) await place();
  const taken: number[] = [];
  for (let at = 0; at < ORDERS; at += 1) taken.push(await place());
  rows.push([`${delayMs} ms`, median(taken).toFixed(1)]);
  await app.close();
}
process.stdout.write(`${table(['Redis is away by', 'an order, median ms'], rows)}\n`);
process.exit(0);

/** A round trip to Redis takes so long more. */
async function startFarRedis(redisPort: number, delayMs: number) {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect({ port: redisPort, host: '127.0.0.1', noDelay: true });
    near.setNoDelay(true);
    const end = () => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', end).on('close', end);
    }
    near.on('data', (bytes) => far.write(bytes));
    far.on('data', (bytes) => {
      if (delayMs === 0) near.write(bytes);
      else setTimeout(() => near.write(bytes), delayMs);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
