import { hash, randomBytes } from 'node:crypto';
import type { Position } from '../../gateway/model.ts';
import type { PositionList } from './positions-board.ts';
import { Timeline } from './timeline.ts';
import type { PositionTotals } from './totals.ts';

export type FeedStatus = 'LIVE' | 'DELAYED';

/** The fields that every event has, whatever its reader received before. */
export interface FeedSummary {
  readonly cursor: string;
  readonly totals: PositionTotals;
  readonly status: FeedStatus;
  /** The time at which the gateway last confirmed the list. */
  readonly asOf: Date;
}

/** One event of the changes: a whole list, or the delta from the last emitted list to the present one. */
export interface PositionChanges extends FeedSummary {
  readonly snapshot: boolean;
  readonly upserted: readonly Position[];
  readonly opened: readonly string[];
  readonly closed: readonly string[];
}

const SNAPSHOT = 0;
const SEAL_LENGTH = 16;

/**
 * The feed's present state. All readers at the same version get the very same event object, so that the
 * fan-out computes and serialises it once.
 */
export class FeedState {
  readonly #timeline = new Timeline();
  readonly #cursors = new Cursors();
  readonly #events = new FeedEvents();
  #list: PositionList | null = null;
  #state: FeedSummary | null = null;
  #asOf = new Date(0);
  #status: FeedStatus = 'LIVE';

  /** The newest list received; null before the first. */
  get list(): PositionList | null {
    return this.#list;
  }

  get positions(): readonly Position[] {
    return this.#timeline.positions;
  }

  get version(): number {
    return this.#timeline.version;
  }

  get arrangement(): number {
    return this.#timeline.arrangement;
  }

  get status(): FeedStatus {
    return this.#status;
  }

  get asOf(): Date {
    return this.#asOf;
  }

  set status(status: FeedStatus) {
    if (status === this.#status) return;
    this.#status = status;
    this.#changed();
  }

  /** Takes a list unless a newer one is shown; returns whether positions were opened or closed. */
  take(list: PositionList): boolean {
    if (this.#list !== null && list.sequence <= this.#list.sequence) return false;
    // Equal bytes are mapped to the same array, which needs no comparison.
    const isUnchanged = this.#list?.positions === list.positions;
    this.#list = list;
    if (list.receivedAtMs > this.#asOf.getTime()) this.#asOf = new Date(list.receivedAtMs);
    this.#changed();
    return isUnchanged ? false : this.#timeline.advance(list.positions);
  }

  /** The version a client's cursor stands for; null where it is not one of this feed's. */
  versionOf(cursor: string): number | null {
    return this.#cursors.read(cursor);
  }

  /** The changes since a version; the whole list where the version is null or too old. */
  changesSince(version: number | null): PositionChanges {
    const from = version ?? SNAPSHOT;
    let event = this.#events.get(from);
    if (event === undefined) {
      event = this.#compute(from);
      this.#events.set(from, event);
    }
    return event;
  }

  /** The summary of this state, as one shared object for all readers. */
  get summary(): FeedSummary {
    this.#state ??= {
      cursor: this.#cursors.write(this.#timeline.version),
      totals: this.#timeline.totals,
      status: this.#status,
      asOf: this.#asOf,
    };
    return this.#state;
  }

  #compute(version: number): PositionChanges {
    const delta = this.#timeline.since(version);
    if (delta === null && version !== SNAPSHOT) return this.changesSince(null);
    const { cursor, totals, status, asOf } = this.summary;
    return {
      cursor,
      snapshot: delta === null,
      upserted: delta?.upserted ?? this.#timeline.positions,
      opened: delta?.opened ?? [],
      closed: delta?.closed ?? [],
      totals,
      status,
      asOf,
    };
  }

  #changed(): void {
    this.#events.clear();
    this.#state = null;
  }
}

/** The events of one state, memoized by the version each starts from, which is the same for nearly all readers. */
class FeedEvents {
  #from = 0;
  #event: PositionChanges | null = null;
  readonly #others = new Map<number, PositionChanges>();

  get(from: number): PositionChanges | undefined {
    return this.#event !== null && this.#from === from ? this.#event : this.#others.get(from);
  }

  set(from: number, event: PositionChanges): void {
    if (this.#event !== null) {
      this.#others.set(from, event);
      return;
    }
    this.#from = from;
    this.#event = event;
  }

  clear(): void {
    this.#event = null;
    // Clearing an empty map would allocate a new table each time.
    if (this.#others.size > 0) this.#others.clear();
  }
}

/**
 * Cursors of one feed's versions. The signature uses a secret of this feed, so that a cursor of another feed,
 * or a forged one, reads as unknown, and none reveals whose feed it is from or whether that one still runs.
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
