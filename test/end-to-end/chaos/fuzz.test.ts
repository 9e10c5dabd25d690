import { expect, test } from 'vitest';
import { TARGETS } from '../../support/fuzz/cases.ts';
import { fuzz } from '../../support/fuzz/fuzz.ts';
import { inFull } from '../../support/in-full.ts';

const CASES = inFull(2_000, 150);

test('no message of a client or of the gateway ends the process or causes INTERNAL', async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const { counts, problem, cases } = await fuzz({ seed, cases: CASES });
  const again = cases.map(({ target, index }) => `--case ${target}:${index}`).join(', or ');
  expect(problem, `npm run soak -- fuzz --seed ${seed} ${again}`).toBe(null);
  for (const target of TARGETS) expect(counts.get(target)).toBe(CASES);
  // These answers show that not all cases are refused before they are executed.
  const answers = ['101', '200', '400', 'BAD_USER_INPUT', 'UNAUTHENTICATED', 'GATEWAY_CONTRACT'];
  for (const answer of answers) expect(counts.get(answer), answer).toBeGreaterThan(CASES / 100);
});
