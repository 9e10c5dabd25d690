// Runs the models of orders for as long as you like: two processes with one file, kills, lost records, faults of the gateway
// and wrong clocks; then, with a redis-server, restarts, snapshots, promotions and primaries that were cut off.
// `npm run soak -- orders [--minutes 10] [--seed 1]`
import { parseArgs } from 'node:util';
import { runOrders } from '../test/domain/trading/order-run.ts';
import { runRedisOrders } from '../test/store/redis/redis-model.ts';
import { redisServerPath } from '../test/support/machine.ts';
import { startTestRedis } from '../test/support/redis.ts';
import { runSeeds, SEED_OPTIONS } from './seeds.ts';

const RUNS = 100;

const { values } = parseArgs({ options: SEED_OPTIONS });
await using redis = redisServerPath === null ? null : await startTestRedis(redisServerPath);
if (redis === null) console.log('no redis-server here: only SQLite is modelled');
let all = 0;
let withRedis = 0;
await runSeeds(values, async (seed) => {
  all += await runOrders(RUNS, seed);
  if (redis !== null) withRedis += await runRedisOrders(redis.url, RUNS, seed);
  console.log(
    `seed ${seed}: ${all} orders with SQLite and ${withRedis} with Redis, each sent once`,
  );
  return [];
});
