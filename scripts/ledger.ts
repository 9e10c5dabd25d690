// The ledger rehearsal for as long as you like: random orders, faults, kills and restarts, then the
// clients' ledger against the gateway's. `npm run soak -- ledger [--minutes 10] [--seed 1]`
import { parseArgs } from 'node:util';
import type { LedgerReport } from '../test/end-to-end/orders/ledger-run.ts';
import {
  rehearseWithForgetfulRedis,
  rehearseWithRedis,
  rehearseWithSqlite,
} from '../test/end-to-end/orders/ledger-world.ts';
import { redisServerPath } from '../test/support/machine.ts';

const STEPS = 6_000;
const ROUNDS = 2;
const SEEDS = 2 ** 31;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    /** The seed of the first run; each later one adds 1. */
    seed: { type: 'string', default: String(Math.floor(Math.random() * SEEDS)) },
  },
});
const endsAtMs = performance.now() + Number(values.minutes) * 60_000;
if (redisServerPath === null) console.log('There is no redis-server here: with SQLite only.');

let failed = false;
let seed = Number(values.seed);
do {
  const rehearsal = { seed, steps: STEPS, rounds: ROUNDS };
  report('sqlite', seed, await rehearseWithSqlite(rehearsal));
  if (redisServerPath) {
    report('redis', seed, await rehearseWithRedis(redisServerPath, rehearsal));
    const forgetful = await rehearseWithForgetfulRedis(redisServerPath, rehearsal);
    report('forgetful redis', seed, forgetful);
  }
  seed += 1;
} while (!failed && performance.now() < endsAtMs);
process.exitCode = failed ? 1 : 0;

function report(store: string, ofSeed: number, { contradictions, stories, replies }: LedgerReport) {
  const counts = [...replies].map(([name, count]) => `${name} ${count}`).join(', ');
  console.log(`${store}, seed ${ofSeed}: ${stories.length} keys (${counts})`);
  for (const contradiction of contradictions) console.error(`  CONTRADICTION ${contradiction}`);
  failed ||= contradictions.length > 0;
}
