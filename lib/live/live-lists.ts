import type { PullStream } from '../pull-stream.ts';
import type { ListAnswer } from './list-state.ts';
import type { LiveList, PolledState } from './live-list.ts';
import type { LiveOptions, LiveViewer } from './live-options.ts';
import type { LiveReader } from './readers.ts';
import { Subscription } from './subscription.ts';

export const MAX_INTERVAL_MS = 15_000;
export const MIN_HEARTBEAT_SECONDS = 15;
export const MAX_HEARTBEAT_SECONDS = 60;
// A little under what is promised, which is counted at the client.
const EARLY_MS = 500;

/** The times that a client requests. */
export interface WatchOptions {
  readonly intervalMs?: number | null | undefined;
  readonly heartbeatSeconds?: number | null | undefined;
}

interface Watching<Viewer, State, List, Event> extends WatchOptions {
  /** Names the list. */
  readonly key: string;
  readonly viewer: Viewer;
  readonly reader: LiveReader<State, Event>;
  /** Makes the list, where nobody follows it yet. */
  readonly create: (onClosed: () => void) => List;
}

/** All live lists of one kind in this process, by their keys: each is polled once however many follow it. */
export class LiveLists<
  Viewer extends LiveViewer,
  Answer extends ListAnswer,
  State extends PolledState<Answer>,
  List extends LiveList<Viewer, Answer, State>,
> {
  readonly #options: LiveOptions<Viewer>;
  readonly #lists = new Map<string, List>();
  #isClosed = false;

  constructor(options: LiveOptions<Viewer>) {
    this.#options = options;
  }

  /** Polling starts with the first pull. */
  watch<Event>(watching: Watching<Viewer, State, List, Event>): PullStream<Event> {
    const { key, viewer, reader, create, intervalMs, heartbeatSeconds } = watching;
    const {
      clock,
      heartbeatMs = MIN_HEARTBEAT_SECONDS * 1_000 - EARLY_MS,
      onEvent,
    } = this.#options;
    const subscription = new Subscription<Viewer, State, Event>({
      viewer,
      reader,
      timers: clock,
      intervalMs: intervalMs ?? 0,
      heartbeatMs: heartbeatSeconds == null ? heartbeatMs : heartbeatSeconds * 1_000 - EARLY_MS,
      onEvent,
      join: (joining) => {
        if (this.#isClosed) return null;
        const list = this.#lists.get(key) ?? create(() => this.#lists.delete(key));
        this.#lists.set(key, list);
        list.join(joining);
        return list;
      },
    });
    return subscription.events;
  }

  get(key: string): List | undefined {
    return this.#lists.get(key);
  }

  /** Those without subscriptions are kept for clients that reconnect. */
  get all(): readonly List[] {
    return [...this.#lists.values()];
  }

  get #running(): readonly List[] {
    return this.all.filter(({ ring }) => !ring.isEmpty);
  }

  /** The lists that are polled. */
  get polled(): number {
    return this.#running.length;
  }

  /** Those whose last poll failed. */
  get delayed(): number {
    return this.#running.filter(({ state }) => state.status === 'DELAYED').length;
  }

  get subscriptions(): number {
    return this.#running.reduce((sum, { ring }) => sum + ring.subscriptions.length, 0);
  }

  /** Since the backend confirmed the oldest list that is polled; 0 without lists. */
  get oldestSeconds(): number {
    const nowMs = this.#options.clock.now();
    const ages = this.#running.map(({ state }) => nowMs - (state.list?.sentAtMs ?? nowMs));
    return ages.reduce((oldest, ageMs) => Math.max(oldest, ageMs / 1000), 0);
  }

  /** Polls that are due and wait for the ceiling. */
  get pollsWaiting(): number {
    return this.#options.scheduler.waiting;
  }

  /** The factor by which the ceiling lengthens every interval. */
  get pollStretch(): number {
    return this.#options.scheduler.stretch;
  }

  /** Ends every subscription without an error, for the shutdown of the server. */
  close(): void {
    this.#isClosed = true;
    for (const list of this.#lists.values()) list.close();
    this.#lists.clear();
  }
}
