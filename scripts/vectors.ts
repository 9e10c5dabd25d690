// Plays random histories to the client, lists with the events of the service's own timeline, orders with the answers of the
// service and its gateway's book, and prints the smallest one that differs as a case of client/vectors. A mended client plays
// that one again by its path, which prints the case to add. `npm run soak -- vectors [--minutes 10] [--seed 1]`
import { parseArgs } from 'node:util';
import { playLists, playTickets } from '../client/test/vectors/histories.ts';
import { startOrderService } from '../client/test/vectors/order-service.ts';
import { runSeeds, SEED_OPTIONS } from './seeds.ts';

const TIMES = { folds: 1_000, tickets: 100 };

const { values } = parseArgs({
  options: { ...SEED_OPTIONS, family: { type: 'string' }, path: { type: 'string' } },
});
await using service = await startOrderService();
const plays = {
  folds: playLists,
  tickets: playTickets.bind(null, service),
};
const { path, minutes } = values;
await runSeeds({ ...values, minutes: path === undefined ? minutes : '0' }, async (seed) => {
  const problems: string[] = [];
  for (const family of ['folds', 'tickets'] as const) {
    if (family !== (values.family ?? family)) continue;
    const { difference, last } = await plays[family]({ seed, times: TIMES[family], path });
    if (difference !== null) problems.push(`${family}: ${difference}`);
    console.log(
      path === undefined ? `seed ${seed}: ${TIMES[family]} histories of ${family}` : last,
    );
  }
  return problems;
});
