import type { FeedOptions } from './feed-options.ts';
import type { State } from './feed-state.ts';

// However often the members change meanwhile, an event is withheld no longer than so many intervals.
const MAX_INTERVALS = 4;

/**
 * Withholds the events of an account while its orders and positions do not belong together, or an order that has become a position
 * would be seen twice, or not at all.
 */
export class EventHold {
  readonly #options: FeedOptions;
  readonly #state: State;
  readonly #wake: () => void;
  #held: { readonly sinceMs: number; readonly cancel: () => void } | null = null;
  /** The members whose event waits no longer. */
  #releasedTime = -1;

  /** `wake` is called when the events may be shown again. */
  constructor(options: FeedOptions, state: State, wake: () => void) {
    this.#options = options;
    this.#state = state;
    this.#wake = wake;
  }

  get isOn(): boolean {
    return this.#held !== null;
  }

  withhold(ms: number): void {
    const { clock } = this.#options;
    const sinceMs = this.#held?.sinceMs ?? clock.now();
    this.#held?.cancel();
    this.#held = { sinceMs, cancel: clock.after(ms, () => this.release()) };
    this.#state.isWithheld = true;
  }

  /** Withholds the event of the present members for an interval, once. */
  withholdMembers(): void {
    if (this.#releasedTime === this.#state.membersTime) return;
    const { clock, pollMs } = this.#options;
    const sinceMs = this.#held?.sinceMs ?? clock.now();
    this.withhold(Math.min(pollMs, sinceMs + MAX_INTERVALS * pollMs - clock.now()));
  }

  release(): void {
    if (this.#held === null) return;
    this.#held.cancel();
    this.#held = null;
    this.#releasedTime = this.#state.membersTime;
    this.#state.isWithheld = false;
    this.#wake();
  }
}
