import { expect, test } from 'vitest';
import { startPolledLists } from '../../support/polled-lists.ts';

test('lists that nobody follows make room for others, the oldest first; those that are followed stay', async () => {
  const { clock, lists, unread } = startPolledLists();
  const followed = (key: string) => {
    const events = unread(key);
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
