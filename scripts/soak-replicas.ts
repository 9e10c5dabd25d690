// Replicas under faults: orders while their Redis fails in every way of docs/order-records.md, and lists that are followed
// by cursor while the replicas themselves die. Fails where an order is sent twice or a list is not the gateway's.
// `npm run soak -- replicas [orders] [cursors] [--orders 10000] [--faults 1000] [--seed 1]`
import { parseArgs } from 'node:util';
import { quantile } from '../bench/support/statistics.ts';
import { rehearseWithFailingRedis } from '../test/end-to-end/orders/ledger-world.ts';
import { POLL_MS, runCursors } from '../test/end-to-end/scale/cursors-run.ts';
import { redisServerPath } from '../test/support/machine.ts';

/** About half of a run's steps are orders under a new key. */
const STEPS_PER_ORDER = 1.9;
const STEPS_PER_ROUND = 2_000;
/** An account's session grows with its orders, and the rehearsal's facades take answers of 100 kB. */
const ORDERS_PER_RUN = 2_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    orders: { type: 'string', default: '10000' },
    faults: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
  },
});
const seed = Number(values.seed);
const isAsked = (part: string) => positionals.length === 0 || positionals.includes(part);
const problems: string[] = [];
if (isAsked('orders')) problems.push(...(await soakOrders(Number(values.orders))));
if (isAsked('cursors')) problems.push(...(await soakCursors(Number(values.faults))));
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

async function soakOrders(orders: number): Promise<readonly string[]> {
  if (redisServerPath === null) return ['There is no redis-server here.'];
  const found: string[] = [];
  let [placed, run] = [0, seed];
  while (placed < orders && found.length === 0) {
    const steps = Math.ceil(Math.min(ORDERS_PER_RUN, orders - placed) * STEPS_PER_ORDER);
    const { stories, replies, contradictions } = await rehearseWithFailingRedis(redisServerPath, {
      seed: run,
      steps,
      rounds: Math.ceil(steps / STEPS_PER_ROUND),
    });
    const counts = [...replies].map(([name, count]) => `${name} ${count}`).join(', ');
    console.log(`seed ${run}: ${stories.length} orders (${counts})`);
    found.push(...contradictions);
    placed += stories.length;
    run += 1;
  }
  return found;
}

async function soakCursors(faults: number): Promise<readonly string[]> {
  const report = await runCursors({
    seed,
    faults,
    onFault(done) {
      if (done % 50 === 0) console.log(`${done} faults`);
    },
  });
  const counts = [...report.faults].map(([name, count]) => `${name} ${count}`).join(', ');
  console.log(`seed ${seed}: ${counts}`);
  console.log(
    `${report.continued} events went on from a list, ${report.snapshots} were whole lists`,
  );
  console.log(
    `live again after a kill, with a poll every ${POLL_MS} ms: ${sharesOf(report.liveAgainMs)}`,
  );
  const afterOpen = report.recoveries.map(({ ms }) => ms);
  console.log(`of that since the new socket was open: ${sharesOf(afterOpen)}`);
  return report.differences;
}

function sharesOf(times: readonly number[]): string {
  const at = (share: number) => Math.round(quantile(times, share));
  return `half of ${times.length} within ${at(0.5)} ms, 95 % within ${at(0.95)} ms, all within ${at(1)} ms`;
}
