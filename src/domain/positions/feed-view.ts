import { hash, randomBytes } from 'node:crypto';
import type { FeedSummary } from './feed-events.ts';

/** The functions by which one kind of event differs from another. */
export interface FeedViewOptions<Event, Summary extends FeedSummary> {
  readonly summarize: (cursor: string) => Summary;
  /** The changes since a version, everything where it is 0; null where the version is too old. */
  readonly compute: (version: number, summary: Summary) => Event | null;
  /** Whether an event that starts at this version has nothing to say. */
  readonly isEmpty: (event: Event, version: number) => boolean;
}

const SNAPSHOT = 0;

/**
 * One kind of event over a feed's state. All readers at the same version get the very same event object, so
 * that the fan-out computes and serialises it once.
 */
export class FeedView<Event, Summary extends FeedSummary> {
  /** While true the state is not to be shown: what belongs together has not arrived whole. */
  isWithheld = false;
  readonly #options: FeedViewOptions<Event, Summary>;
  readonly #cursors = new Cursors();
  /** The events of the present state by the version each starts from, which is the same for nearly all readers. */
  readonly #events = new Map<number, Event>();
  #version = 0;
  #summary: Summary | null = null;

  constructor(options: FeedViewOptions<Event, Summary>) {
    this.#options = options;
  }

  get version(): number {
    return this.#version;
  }

  /** The summary of the present state, as one shared object for all readers. */
  get summary(): Summary {
    this.#summary ??= this.#options.summarize(this.#cursors.write(this.#version));
    return this.#summary;
  }

  /** The version a client's cursor stands for; null where it is not one of this view's. */
  versionOf(cursor: string): number | null {
    return this.#cursors.read(cursor);
  }

  /** The changes since a version; everything where the version is null or too old. */
  since(version: number | null): Event {
    const from = version ?? SNAPSHOT;
    const known = this.#events.get(from);
    if (known !== undefined) return known;
    const event = this.#options.compute(from, this.summary) ?? this.since(null);
    this.#events.set(from, event);
    return event;
  }

  isEmpty(event: Event, version: number): boolean {
    return this.#options.isEmpty(event, version);
  }

  /** An event without changes. */
  unchanged(summary: Summary): Event {
    const event = this.#options.compute(this.#version, summary);
    if (event === null) throw new Error('the present version of a feed cannot be too old');
    return event;
  }

  /** Called whenever the state has changed. */
  changed(version: number): void {
    this.#version = version;
    this.#summary = null;
    // Clearing an empty map would allocate a new table each time.
    if (this.#events.size > 0) this.#events.clear();
  }
}

const SEAL_LENGTH = 16;

/**
 * Cursors of one feed's versions in one of its views. The signature uses a secret of this view, so that a cursor
 * of another feed or view, or a forged one, reads as unknown, and none reveals whose feed it is from or whether
 * that one still runs.
 */
export class Cursors {
  readonly #secret = randomBytes(16).toString('hex');
  #last: { readonly version: number; readonly text: string } | null = null;

  write(version: number): string {
    if (this.#last?.version !== version) {
      const name = version.toString(36);
      this.#last = { version, text: `${name}.${this.#seal(name)}` };
    }
    return this.#last.text;
  }

  /** Null where the cursor is not one of this feed's. */
  read(cursor: string): number | null {
    const [name, seal, ...rest] = cursor.split('.', 3);
    if (!name || seal === undefined || rest.length > 0) return null;
    // A signature fits one spelling only, which is therefore one that was written here.
    return seal === this.#seal(name) ? Number.parseInt(name, 36) : null;
  }

  #seal(name: string): string {
    return hash('sha256', `${this.#secret}.${name}`, 'base64url').slice(0, SEAL_LENGTH);
  }
}
