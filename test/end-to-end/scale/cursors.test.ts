import { expect, test } from 'vitest';
import { inFull } from '../../support/in-full.ts';
import { REPLICAS, runCursors } from './cursors-run.ts';

test('a list that is followed by cursor over replicas that die and freeze stays the gateway’s', async () => {
  const { differences, faults, continued, snapshots, recoveries } = await runCursors({
    seed: 3,
    faults: inFull(15, 7),
  });
  expect(differences).toEqual([]);
  expect(faults.get('kill')).toBe(inFull(9, 4));
  // It proves something only where cursors were resumed.
  expect(continued).toBeGreaterThan(inFull(100, 40));
  expect(snapshots).toBeGreaterThan(inFull(10, 4));
  // Counted in polls, which a busy machine delays as well.
  const polls = recoveries.map((recovery) => recovery.polls).toSorted((a, b) => a - b);
  expect(polls[Math.floor(polls.length / 2)]).toBeLessThanOrEqual(3 * REPLICAS);
});
