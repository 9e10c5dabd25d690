// Sends what no client should, documents, HTTP, frames of WebSockets, and answers of a gateway, for as long as you like, and
// fails where the process ends or something is INTERNAL. `npm run soak -- fuzz [--minutes 10] [--seed 1] [--case websocket:7]`
import { parseArgs } from 'node:util';
import { TARGETS } from '../test/support/fuzz/cases.ts';
import { fuzz } from '../test/support/fuzz/fuzz.ts';

const CASES = 1_000;
const SEEDS = 2 ** 31;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    /** The seed of the first run; each later one adds 1. */
    seed: { type: 'string', default: String(Math.floor(Math.random() * SEEDS)) },
    /** One case of the seed alone. */
    case: { type: 'string' },
  },
});
const [name, index] = values.case?.split(':') ?? [];
const target = TARGETS.find((each) => each === name);
if (values.case && !target) throw new Error(`--case: must be of ${TARGETS.join(', ')}`);
const only = target && { target, index: Number(index) };
const endsAtMs = performance.now() + Number(values.minutes) * 60_000;

const all = new Map<string, number>();
let seed = Number(values.seed);
let isOver = false;
while (!isOver) {
  const { counts, problem, cases } = await fuzz({ seed, cases: CASES, only });
  for (const [what, count] of counts) all.set(what, (all.get(what) ?? 0) + count);
  console.log(`seed ${seed}: ${problem === null ? 'nothing' : 'a PROBLEM'}`);
  if (problem !== null) {
    console.error(problem);
    for (const each of cases) {
      console.error(`npm run soak -- fuzz --seed ${seed} --case ${each.target}:${each.index}`);
    }
    process.exitCode = 1;
  }
  seed += 1;
  isOver = problem !== null || only !== undefined || performance.now() >= endsAtMs;
}
const sorted = [...all].sort(([, one], [, other]) => other - one);
console.log(sorted.map(([what, count]) => `${what} ${count}`).join(', '));
