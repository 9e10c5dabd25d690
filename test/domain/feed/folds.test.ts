import { expect, test } from 'vitest';
import { inFull } from '../../support/in-full.ts';
import { foldHistory } from './folds.ts';

const HISTORIES = inFull(4_000, 25);

test('a client that folds the events has the gateway’s list, through lost connections, refused tokens, outages, slow reading and cursors of any age', async () => {
  const differences: string[] = [];
  let events = 0;
  for (let seed = 1; seed <= HISTORIES; seed += 1) {
    const history = await foldHistory(seed);
    differences.push(...history.problems.map((problem) => `seed ${seed}: ${problem}`));
    events += history.events;
  }
  expect(differences.slice(0, 5)).toEqual([]);
  // Fewer would be histories in which nothing happens.
  expect(events).toBeGreaterThan(20 * HISTORIES);
});
