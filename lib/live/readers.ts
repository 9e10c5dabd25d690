import { type EventView, SNAPSHOT } from './event-view.ts';
import type { LiveEvent } from './list-state.ts';
import type { WatchOptions } from './live-options.ts';

type Shown = LiveEvent<unknown>;

/** Computes one subscriber's events. `isBeat`: one is due although nothing has changed, to tell a quiet market from a dead line. */
export interface LiveReader<State, Event> {
  /** Whether nothing may be shown just now, not even again. Left out, nothing ever is withheld. */
  isWithheld?(state: State): boolean;
  /** The next event, or undefined where nothing has changed. The first one is always the list. */
  next(state: State, isBeat: boolean): Event | undefined;
  /** The last event again, marked as delayed, where one is due or the list has become delayed since; undefined before the first. */
  stale(state: State, isBeat: boolean): Event | undefined;
  /** The last event was not sent: the next has its changes as well. */
  missed?(): void;
}

/** Emits a snapshot and then deltas, or deltas from the start where `after` is a cursor of the list. */
export class ChangesReader<State extends Pick<Shown, 'status'>, Event extends Shown> {
  readonly #viewOf: (state: State) => EventView<Event>;
  readonly after: string | null;
  readonly #ticks: boolean;
  #version = SNAPSHOT;
  #versionBefore = SNAPSHOT;
  /** The last event without its changes, so that no reader keeps lists. */
  #last: Event | null = null;

  constructor(viewOf: (state: State) => EventView<Event>, { after, ticks = false }: WatchOptions) {
    this.#viewOf = viewOf;
    this.after = after ?? null;
    this.#ticks = ticks;
  }

  next(state: State, isBeat: boolean): Event | undefined {
    const view = this.#viewOf(state);
    if (this.#last === null) this.#version = view.versionOf(this.after) ?? SNAPSHOT;
    const event = view.since(this.#version, this.#ticks);
    const isEmpty = view.isEmpty(event, this.#version);
    this.#versionBefore = this.#version;
    // An empty list as well: a position may have opened and closed between two reads.
    this.#version = view.version;
    if (isEmpty && !isBeat && this.#last?.status === state.status) return undefined;
    this.#last = view.since(this.#version, this.#ticks);
    return event;
  }

  missed(): void {
    this.#version = this.#versionBefore;
  }

  stale({ status }: State, isBeat: boolean): Event | undefined {
    const isOutdated = this.#last?.status === 'LIVE' && status === 'DELAYED';
    if (this.#last === null || !(isBeat || isOutdated)) return undefined;
    this.#last = { ...this.#last, status: 'DELAYED' };
    return this.#last;
  }
}

/** Makes a reader that emits the whole list, in the backend's order, whenever it has changed. */
export function createListReader<Row>() {
  let lastSent: readonly Row[] | undefined;
  return {
    next({ rows }: { readonly rows: readonly Row[] }, isBeat: boolean) {
      if (!isBeat && lastSent === rows) return undefined;
      lastSent = rows;
      return rows;
    },
    stale: (_state: unknown, isBeat: boolean) => (isBeat ? lastSent : undefined),
  };
}
