import { expect, test } from 'vitest';
import { LogicalClock } from '../../../lib/clock.ts';
import { createPollScheduler } from '../../../lib/live/poll-scheduler.ts';
import { PolledLists } from '../../../lib/live/polled-lists.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const VIEWER = { tokenHash: '', expiresAtMs: null };

test('lists that nobody follows make room for others, the oldest first; those that are followed stay', async () => {
  const clock = createScriptedClock();
  const random = () => 0.5;
  const lists = new PolledLists({
    clock,
    random,
    pollMs: 1_000,
    pollMaxMs: 2_000,
    firstListMs: 5_000,
    scheduler: createPollScheduler(clock, 100, random),
    logicalClock: new LogicalClock(),
    keyOf: ({ id }: { readonly id: string }) => id,
    isSame: (a, b) => a.id === b.id,
    read: async () => ({ rows: [{ id: 'a' }] }),
  });
  const followed = (key: string) => {
    const events = lists.follow({ key, of: null, viewer: VIEWER }, {});
    events.listen({ woken() {}, ended() {} });
    return events;
  };
  const keys = ['a', 'b', 'c'];
  const [first, second] = keys.map(followed);
  await clock.advance(0);
  const kept = () => keys.filter((key) => lists.get(key) !== undefined);
  expect(lists.hasRoom(4)).toBe(true);
  expect(lists.hasRoom(3)).toBe(false);
  expect(kept()).toEqual(keys);
  first?.leave();
  second?.leave();
  expect(lists.hasRoom(4)).toBe(true);
  expect(kept()).toEqual(keys);
  expect(lists.hasRoom(3)).toBe(true);
  expect(kept()).toEqual(['b', 'c']);
  expect(lists.hasRoom(1)).toBe(false);
  expect(kept()).toEqual(['c']);
  // The end of a list's time is nothing to one that has its key since.
  const again = followed('a');
  await clock.advance(60_000);
  expect(kept()).toEqual(['a', 'c']);
  again.leave();
});
