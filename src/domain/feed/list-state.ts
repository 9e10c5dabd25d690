import { randomBytes } from 'node:crypto';
import type { ReadTimes } from '../../gateway/exchange.ts';
import { memo } from '../../lib/caches.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Delta, isEmpty, SNAPSHOT, Timeline } from './timeline.ts';

export type FeedStatus = 'LIVE' | 'DELAYED';

/** Whether a subscription follows only the list, or what else its feed has. */
export type FeedView = 'list' | 'account';

export interface ListEvent<Row> extends Delta<Row> {
  readonly cursor: string;
  /** True for a full snapshot, false for the changes since the last event. */
  readonly snapshot: boolean;
  readonly status: FeedStatus;
  /** When the call was sent that last confirmed the list. */
  readonly asOf: Date;
}

export interface Identified {
  readonly id: string;
}

/** One read of a list. Equal answers may have the same array of rows. */
export interface ListAnswer<Row> extends ReadTimes {
  readonly rows: readonly Row[];
}

export interface Comparison<Row> {
  readonly isSame: (a: Row, b: Row) => boolean;
  /** Compares all fields except the moving ones, such as a price. Without it no field is moving. */
  readonly isSameBesides?: ((a: Row, b: Row) => boolean) | undefined;
}

const CURSOR = /^(?<version>[0-9a-z]{1,10})\.(?<nonce>[\w-]+)$/;

/** The present state of one live list, and its events. Only this class and its subclass change it. */
export class ListState<
  Row extends Identified,
  Answer extends ListAnswer<Row>,
  Event extends ListEvent<Row> = ListEvent<Row>,
> {
  list: Answer | null = null;
  status: FeedStatus = 'LIVE';
  readonly #timeline: Timeline<Row>;
  readonly #clock: Pick<Clock, 'dateOf'>;
  /** The version of the last change. Only this class and its subclass change it. */
  version = SNAPSHOT;
  /** A nonce makes a cursor unknown to every other feed and view. It does not reveal the account. */
  readonly #nonces = new Map<FeedView, string>();

  constructor(clock: Pick<Clock, 'dateOf'>, { isSame, isSameBesides }: Comparison<Row>) {
    this.#clock = clock;
    this.#timeline = new Timeline(isSame, isSameBesides);
  }

  /** The same array until a row or the sequence of rows changes. */
  get rows(): readonly Row[] {
    return this.#timeline.rows;
  }

  /** Takes a status, and a list unless the present one is newer. Returns whether a reader can see a difference. */
  take(status: FeedStatus, list: Answer | null): boolean {
    const { version, status: statusBefore } = this;
    this.status = status;
    if (list !== null && list.logicalTime > (this.list?.logicalTime ?? 0)) this.#takeList(list);
    return this.version !== version || status !== statusBefore;
  }

  /** The version that a cursor names; null if the cursor is not from this feed and view. */
  versionOf(view: FeedView, cursor: string | null): number | null {
    const { version = '', nonce } = CURSOR.exec(cursor ?? '')?.groups ?? {};
    const number = Number.parseInt(version, 36);
    return nonce === this.#nonceOf(view) && number <= this.version ? number : null;
  }

  /** The changes since a version; everything if the version is too old. */
  since(view: FeedView, version: number, ticks: boolean): Event {
    return this.#compute(view, version, ticks) ?? this.since(view, SNAPSHOT, ticks);
  }

  /** Whether an event with the changes since a version has no change. */
  isEmpty(event: Event, _version: number): boolean {
    return !event.snapshot && isEmpty(event);
  }

  /** Adds what else a subclass and its view show; null if the version is too old for it. */
  protected complete(event: ListEvent<Row>, _view: FeedView, _version: number): Event | null {
    return event as Event;
  }

  protected dateOf(ms: number): Date {
    return new Date(this.#clock.dateOf(ms));
  }

  #takeList(list: Answer): void {
    const { rows } = list;
    const isKnown = this.list?.rows === rows;
    this.list = list;
    if (isKnown) return;
    const version = this.version + 1;
    if (this.#timeline.advance(rows, version)) this.version = version;
  }

  #compute(view: FeedView, version: number, ticks: boolean): Event | null {
    const changes = this.#timeline.changes(version, ticks);
    if (changes === null) return null;
    const event = {
      ...changes,
      cursor: `${this.version.toString(36)}.${this.#nonceOf(view)}`,
      snapshot: version === SNAPSHOT,
      status: this.status,
      // The list may have been read as soon as the call was sent.
      asOf: this.dateOf(this.list?.sentAtMs ?? 0),
    };
    return this.complete(event, view, version);
  }

  #nonceOf(view: FeedView): string {
    return memo(this.#nonces, view, () => randomBytes(9).toString('base64url'));
  }
}
