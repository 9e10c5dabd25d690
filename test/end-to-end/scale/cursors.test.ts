import { expect, test } from 'vitest';
import { runCursors } from './cursors-run.ts';

test('a list that is followed by cursor over replicas that die and freeze stays the gateway’s', async () => {
  const { differences, faults, continued, snapshots } = await runCursors({ seed: 3, faults: 15 });
  expect(differences).toEqual([]);
  expect(faults.get('kill')).toBe(9);
  // It proves something only where cursors were resumed.
  expect(continued).toBeGreaterThan(100);
  expect(snapshots).toBeGreaterThan(10);
});
