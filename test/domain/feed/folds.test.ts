import { expect, test } from 'vitest';
import { inFull } from '../../support/in-full.ts';
import { foldHistory } from './folds.ts';

const HISTORIES = inFull(4_000, 25);

test('after random events, a client that applies them has the gateway’s list', async () => {
  const differences: string[] = [];
  let events = 0;
  for (let seed = 1; seed <= HISTORIES; seed += 1) {
    const history = await foldHistory(seed);
    differences.push(...history.problems.map((problem) => `seed ${seed}: ${problem}`));
    events += history.events;
  }
  expect(differences.slice(0, 5)).toEqual([]);
  // With fewer events the histories would test nothing.
  expect(events).toBeGreaterThan(20 * HISTORIES);
});
