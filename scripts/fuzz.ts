// Sends what no client should, documents, HTTP, frames of WebSockets, and answers of a gateway, for as long as you like, and
// fails where the process ends or something is INTERNAL. `npm run soak -- fuzz [--minutes 10] [--seed 1] [--case websocket:7]`
import { parseArgs } from 'node:util';
import { TARGETS } from '../test/support/fuzz/cases.ts';
import { fuzzDoors } from '../test/support/fuzz/doors.ts';
import { fuzz } from '../test/support/fuzz/fuzz.ts';
import { redisServerPath } from '../test/support/machine.ts';
import { runSeeds, SEED_OPTIONS } from './seeds.ts';

const CASES = 1_000;

const { values } = parseArgs({
  options: {
    ...SEED_OPTIONS,
    /** One case of the seed alone. */
    case: { type: 'string' },
  },
});
const [name, index] = values.case?.split(':') ?? [];
const target = TARGETS.find((each) => each === name);
if (values.case && !target) throw new Error(`--case: must be of ${TARGETS.join(', ')}`);
const only = target && { target, index: Number(index) };

const all = new Map<string, number>();
await runSeeds({ ...values, ...(only && { minutes: '0' }) }, async (seed) => {
  const { counts, problem, cases } = await fuzz({ seed, cases: CASES, only });
  for (const [what, count] of counts) all.set(what, (all.get(what) ?? 0) + count);
  console.log(`seed ${seed}: ${problem === null ? 'nothing' : 'a problem'}`);
  const again = cases.map((each) => `--seed ${seed} --case ${each.target}:${each.index}`);
  const doors =
    only || redisServerPath === null ? null : await fuzzDoors(redisServerPath, seed, CASES / 5);
  if (doors?.problem) return [doors.problem, `npm run soak -- fuzz --seed ${seed}`];
  return problem === null ? [] : [problem, ...again.map((each) => `npm run soak -- fuzz ${each}`)];
});
const sorted = [...all].sort(([, one], [, other]) => other - one);
console.log(sorted.map(([what, count]) => `${what} ${count}`).join(', '));
