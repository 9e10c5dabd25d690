// Folds an account's events as clients do for as long as you like, behind a gateway whose two reads lag, and compares
// each list that is shown with the gateway's own states. `npm run soak -- event-replay [--minutes 10] [--seed 1]`
import { parseArgs } from 'node:util';
import { checkFolding } from '../test/end-to-end/live/fold-check.ts';
import { createSeededRandom } from '../test/end-to-end/orders/seeded-random.ts';
import { runSeeds, SEED_OPTIONS } from './seeds.ts';

const STEPS = 400;
const MAX_LAG_MS = { getSession: 1_500, getOpenPositions: 600 };
const MAX_DELAY_MS = 300;

const { values } = parseArgs({ options: SEED_OPTIONS });
await runSeeds(values, async (seed) => {
  const random = createSeededRandom(seed);
  // One of the two lags: both at once would be a gateway whose clock is late.
  const lagging = random.pick(['getSession', 'getOpenPositions'] as const);
  const lagMs = { [lagging]: random.below(MAX_LAG_MS[lagging]) };
  const delayMs = {
    getSession: random.below(MAX_DELAY_MS),
    getOpenPositions: random.below(MAX_DELAY_MS),
  };
  // In every second run one of them fails now and then.
  const failing = random.pick(['getSession', 'getOpenPositions', null, null] as const);
  const failEvery = failing && { [failing]: 2 + random.below(6) };
  const given = { seed, steps: STEPS, lagMs, delayMs, ...(failEvery && { failEvery }) };
  const { problems, events, queries, states } = await checkFolding(given);
  const behind = `${lagging} lags by ${lagMs[lagging]} ms, ${failing ?? 'none'} fails`;
  console.log(`seed ${seed}, ${behind}: ${states} states, ${events} events, ${queries} queries`);
  return problems;
});
