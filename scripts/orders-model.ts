// Runs the model of orders for as long as you like: two processes with one file, kills, lost records, faults of the gateway
// and wrong clocks. `npm run soak -- orders [--minutes 10] [--seed 1]`
import { parseArgs } from 'node:util';
import { runOrders } from '../test/domain/trading/order-run.ts';
import { runSeeds, SEED_OPTIONS } from './seeds.ts';

const RUNS = 1_000;

const { values } = parseArgs({ options: SEED_OPTIONS });
let all = 0;
await runSeeds(values, async (seed) => {
  all += await runOrders(RUNS, seed);
  console.log(`seed ${seed}: ${all} orders sent by now, each once`);
  return [];
});
