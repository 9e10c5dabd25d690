// Sends invalid documents, HTTP requests, WebSocket frames and gateway answers for as long as you like, and fails if the
// process ends or an answer is INTERNAL. `npm run soak -- fuzz [--minutes 10] [--seed 1] [--case websocket:7]`
import { parseArgs } from 'node:util';
import { TARGETS } from '../test/support/fuzz/cases.ts';
import { fuzz } from '../test/support/fuzz/fuzz.ts';
import { runSeeds, SEED_OPTIONS } from './seeds.ts';

const CASES = 1_000;

const { values } = parseArgs({
  options: {
    ...SEED_OPTIONS,
    /** Runs only this case of the seed. */
    case: { type: 'string' },
  },
});
const [name, index] = values.case?.split(':') ?? [];
const target = TARGETS.find((each) => each === name);
if (values.case && !target) throw new Error(`--case: must be of ${TARGETS.join(', ')}`);
const only = target && { target, index: Number(index) };

const totals = new Map<string, number>();
// With 0 minutes the seed runs once.
const minutes = only ? '0' : values.minutes;
await runSeeds({ ...values, minutes }, async (seed) => {
  const { counts, problem, cases } = await fuzz({ seed, cases: CASES, only });
  for (const [what, count] of counts) totals.set(what, (totals.get(what) ?? 0) + count);
  console.log(`seed ${seed}: ${problem === null ? 'nothing' : 'a problem'}`);
  const repeats = cases.map((each) => `--seed ${seed} --case ${each.target}:${each.index}`);
  if (problem === null) return [];
  return [problem, ...repeats.map((each) => `npm run soak -- fuzz ${each}`)];
});
const sorted = [...totals].sort(([, one], [, other]) => other - one);
console.log(sorted.map(([what, count]) => `${what} ${count}`).join(', '));
