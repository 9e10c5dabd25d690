// Lists that are followed by cursor while the replicas themselves die: fails where a list is not the gateway's.
// `npm run soak -- replicas [--faults 1000] [--seed 1]`
import { parseArgs } from 'node:util';
import { quantile } from '../bench/support/statistics.ts';
import { POLL_MS, runCursors } from '../test/end-to-end/scale/cursors-run.ts';

const { values } = parseArgs({
  options: {
    faults: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
  },
});
const { faults, differences, continued, snapshots, liveAgainMs, recoveries } = await runCursors({
  seed: Number(values.seed),
  faults: Number(values.faults),
  onFault(done) {
    if (done % 50 === 0) console.log(`${done} faults`);
  },
});
const counts = [...faults].map(([name, count]) => `${name} ${count}`).join(', ');
console.log(`seed ${values.seed}: ${counts}`);
console.log(`${continued} events went on from a list, ${snapshots} were whole lists`);
console.log(`live again after a kill, with a poll every ${POLL_MS} ms: ${sharesOf(liveAgainMs)}`);
console.log(`of that since the new socket was open: ${sharesOf(recoveries.map(({ ms }) => ms))}`);
for (const difference of differences) console.error(difference);
process.exitCode = differences.length > 0 ? 1 : 0;

function sharesOf(times: readonly number[]): string {
  const at = (share: number) => Math.round(quantile(times, share));
  return `half of ${times.length} within ${at(0.5)} ms, 95 % within ${at(0.95)} ms, all within ${at(1)} ms`;
}
