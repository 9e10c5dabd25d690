// The ledger rehearsal for as long as you like: random orders, faults, kills and restarts, a Redis that fails in every way of
// docs/order-records.md, then the clients' ledger against the gateway's. `npm run soak -- ledger [--minutes 10] [--seed 1]`
import { parseArgs } from 'node:util';
import {
  rehearseWithFailingRedis,
  rehearseWithForgetfulRedis,
  rehearseWithPromotions,
  rehearseWithRedis,
  rehearseWithSqlite,
} from '../test/end-to-end/orders/ledger-world.ts';
import { redisServerPath } from '../test/support/machine.ts';
import { runSeeds, SEED_OPTIONS } from './seeds.ts';

const REHEARSAL = { steps: 6_000, rounds: 2 };

const { values } = parseArgs({ options: SEED_OPTIONS });
if (redisServerPath === null) console.log('There is no redis-server here: with SQLite only.');
await runSeeds(values, async (seed) => {
  const rehearsal = { seed, ...REHEARSAL };
  const reports = { sqlite: await rehearseWithSqlite(rehearsal) };
  if (redisServerPath) {
    const redis = await rehearseWithRedis(redisServerPath, rehearsal);
    const promoted = await rehearseWithPromotions(redisServerPath, rehearsal);
    const forgetful = await rehearseWithForgetfulRedis(redisServerPath, rehearsal);
    // An account's session grows with its orders, and the rehearsal's facades take answers of 100 kB.
    const shorter = { ...rehearsal, steps: 3_800 };
    const failing = await rehearseWithFailingRedis(redisServerPath, shorter);
    Object.assign(reports, {
      redis,
      'redis with promotions': promoted,
      'forgetful redis': forgetful,
      'failing redis': failing,
    });
  }
  return Object.entries(reports).flatMap(([store, { contradictions, stories, replies }]) => {
    const counts = [...replies].map(([name, count]) => `${name} ${count}`).join(', ');
    console.log(`${store}, seed ${seed}: ${stories.length} keys (${counts})`);
    return contradictions.map((contradiction) => `${store}: ${contradiction}`);
  });
});
