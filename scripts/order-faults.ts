// The rehearsal of the client's orders, in full: tickets whose line, app, service and gateway fail, then
// what was said of them against the gateway's book. `node scripts/order-faults.ts [--tickets 2000] [--seed 1]`
import { parseArgs } from 'node:util';
import { rehearse } from '../client/test/orders/order-rehearsal.ts';
import { SEED_OPTIONS } from './seeds.ts';

const { values } = parseArgs({
  options: {
    tickets: { type: 'string', default: '2000' },
    seed: SEED_OPTIONS.seed,
  },
});
const seed = Number(values.seed);
const report = await rehearse(Number(values.tickets), seed, () => true);
const { tickets, statuses, resumed, kills, contradictions } = report;
console.log(`seed ${seed}: ${tickets} tickets, ${JSON.stringify(statuses)}`);
console.log(`${resumed} apps killed, ${kills} services killed`);
for (const contradiction of contradictions) console.error(`  CONTRADICTION ${contradiction}`);
process.exitCode = contradictions.length > 0 ? 1 : 0;
