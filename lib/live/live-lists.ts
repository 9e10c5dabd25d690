import type { LiveList, PolledState } from './live-list.ts';
import type { LiveOptions, LiveViewer } from './live-options.ts';
import { Subscription, type Watching } from './subscription.ts';

/** All live lists of one kind in this process, by their keys: each is polled once however many follow it. */
export class LiveLists<Viewer extends LiveViewer, List extends LiveList<Viewer, PolledState>, Of> {
  readonly options: LiveOptions<Viewer>;
  readonly #create: (of: Of, onClosed: () => void) => List;
  readonly #lists = new Map<string, List>();
  #isClosed = false;

  /** `create` makes a list that nobody follows yet. */
  constructor(options: LiveOptions<Viewer>, create: (of: Of, onClosed: () => void) => List) {
    this.options = options;
    this.#create = create;
  }

  /** Polling starts with the first pull. */
  watch<Event>(key: string, of: Of, watching: Watching<Viewer, List['state'], Event>) {
    const join = (subscription: Subscription<Viewer>) => {
      if (this.#isClosed) return null;
      const list = this.#lists.get(key) ?? this.#create(of, () => this.#lists.delete(key));
      this.#lists.set(key, list);
      list.join(subscription);
      return list;
    };
    return new Subscription(this.options, watching, join).events;
  }

  get(key: string): List | undefined {
    return this.#lists.get(key);
  }

  /** Lists without subscriptions are kept for clients that reconnect. */
  get all(): readonly List[] {
    return [...this.#lists.values()];
  }

  /** Whether there are fewer than so many; lists that nobody follows make room, the oldest first. */
  hasRoom(most: number): boolean {
    for (const [key, list] of this.#lists) {
      if (this.#lists.size < most) break;
      if (!list.tokens.isEmpty) continue;
      list.close();
      this.#lists.delete(key);
    }
    return this.#lists.size < most;
  }

  get #running(): readonly List[] {
    return this.all.filter(({ tokens }) => !tokens.isEmpty);
  }

  get polled(): number {
    return this.#running.length;
  }

  get delayed(): number {
    return this.#running.filter(({ state }) => state.status === 'DELAYED').length;
  }

  get subscriptions(): number {
    return this.#running.reduce((sum, { tokens }) => sum + tokens.subscriptionCount, 0);
  }

  /** Since the backend confirmed the oldest list that is polled; 0 without lists. */
  get oldestSeconds(): number {
    const nowMs = this.options.clock.now();
    const ages = this.#running.map(({ state }) => nowMs - (state.list?.sentAtMs ?? nowMs));
    return ages.reduce((oldest, ageMs) => Math.max(oldest, ageMs / 1000), 0);
  }

  /** Ends every subscription without an error, for the shutdown of the server. */
  close(): void {
    this.#isClosed = true;
    for (const list of this.#lists.values()) list.close();
    this.#lists.clear();
  }
}
