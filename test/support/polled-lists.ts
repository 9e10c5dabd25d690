import { LogicalClock } from '../../lib/clock.ts';
import { createPollScheduler } from '../../lib/live/poll-scheduler.ts';
import { PolledLists } from '../../lib/live/polled-lists.ts';
import { createScriptedClock } from './scripted-clock.ts';

const VIEWER = { tokenHash: '', expiresAtMs: null };

/** Lists of one row each, which are read by one viewer, by a clock that the test moves. */
export function startPolledLists() {
  const clock = createScriptedClock();
  const random = () => 0.5;
  const lists = new PolledLists({
    clock,
    uptimeMs: clock.now,
    random,
    pollMs: 1_000,
    pollMaxMs: 2_000,
    firstListMs: 5_000,
    scheduler: createPollScheduler(clock, 10_000, random),
    logicalClock: new LogicalClock(),
    keyOf: ({ id }: { readonly id: string }) => id,
    isSame: (a, b) => a.id === b.id,
    read: async () => ({ rows: [{ id: 'a' }] }),
  });
  const unread = (key: string) => lists.follow({ key, of: null, viewer: VIEWER }, {});
  return { clock, lists, unread };
}
