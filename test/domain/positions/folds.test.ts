import { expect, test } from 'vitest';
import { inFull } from '../../support/in-full.ts';
import { foldHistory, WORLDS } from './folds.ts';

const HISTORIES = inFull(4_000, 25);

test.each(Object.entries(WORLDS))(
  'whoever folds the events of %s has the backend’s list, through lost lines, refused tokens, outages, slow reading and cursors of any age',
  async (_name, create) => {
    const differences: string[] = [];
    let events = 0;
    for (let seed = 1; seed <= HISTORIES; seed += 1) {
      const history = await foldHistory(create, seed);
      differences.push(...history.problems.map((problem) => `seed ${seed}: ${problem}`));
      events += history.events;
    }
    expect(differences.slice(0, 5)).toEqual([]);
    // Fewer would be histories in which nothing happens.
    expect(events).toBeGreaterThan(20 * HISTORIES);
  },
);
