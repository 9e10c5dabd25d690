import type { FeedOptions } from './feed-options.ts';
import type { State } from './feed-state.ts';

// However often the members change meanwhile, an event is withheld no longer than so many intervals.
const MAX_INTERVALS = 4;

/**
 * Withholds the events of an account while its orders and positions do not belong together, or an order that has become a position
 * would be seen twice, or not at all. `wake` is called when the events may be shown again.
 */
export function createEventHold({ clock, pollMs }: FeedOptions, state: State, wake: () => void) {
  let sinceMs = 0;
  let cancel = () => {};
  /** The members whose event waits no longer. */
  let releasedTime = -1;

  function withhold(ms: number): void {
    if (!state.isWithheld) sinceMs = clock.now();
    state.isWithheld = true;
    cancel();
    cancel = clock.after(ms, release);
  }

  function release(): void {
    if (!state.isWithheld) return;
    cancel();
    releasedTime = state.membersTime;
    state.isWithheld = false;
    wake();
  }

  return {
    withhold,
    /** Withholds the event of the present members for an interval, once. */
    withholdMembers(): void {
      if (releasedTime === state.membersTime) return;
      const heldMs = state.isWithheld ? clock.now() - sinceMs : 0;
      withhold(Math.min(pollMs, MAX_INTERVALS * pollMs - heldMs));
    },
    release,
  };
}
