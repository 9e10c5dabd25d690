import type { Clock } from '../clock.ts';
import { EventView, SNAPSHOT } from './event-view.ts';
import type { LiveStatus } from './live-options.ts';
import { type Delta, isEmpty, type RowRules, Timeline } from './timeline.ts';

/** A list as a call has brought it, each call with its place in the order of all. */
export interface ListAnswer {
  readonly logicalTime: number;
  readonly sentAtMs: number;
  /** How long the process has read it, where that is long. */
  readonly workMs?: number;
}

export interface LiveEvent<Totals> {
  readonly cursor: string;
  /** Whether it has everything, else what has changed since the last event. */
  readonly snapshot: boolean;
  readonly totals: Totals;
  readonly status: LiveStatus;
  /** When the call was sent that last confirmed the list. */
  readonly asOf: Date;
}

export type ListChanges<Row, Totals> = LiveEvent<Totals> & Delta<Row> & { readonly kind: 'list' };

interface ListRules<Row, Answer, Totals> extends RowRules<Row> {
  /** The rows of an answer: the same array for an answer that is known to be equal. */
  readonly rowsOf: (answer: Answer) => readonly Row[];
  readonly totalsOf: (rows: readonly Row[]) => Totals;
  readonly clock: Pick<Clock, 'dateOf'>;
}

/** A list's present state, and what its readers see of it. Its own methods alone change it. */
export class ListState<Row, Answer extends ListAnswer, Totals = null> {
  /** The newest list received; null before the first. */
  list: Answer | null = null;
  /** The logical time of the list that first had the present members. */
  membersTime = 0;
  status: LiveStatus = 'LIVE';
  /** The version of the last change of any content; the state's lists share it. */
  protected version = 0;
  protected readonly timeline: Timeline<Row>;
  readonly #rules: ListRules<Row, Answer, Totals>;
  #totals: { readonly now: Totals } | null = null;
  readonly changes = new EventView<ListChanges<Row, Totals>>({
    compute: (version, cursor, ticks) => {
      const delta = this.timeline.changes(version, ticks);
      return delta && { kind: 'list', ...this.event(version, cursor), ...delta };
    },
    isEmpty,
  });

  constructor(rules: ListRules<Row, Answer, Totals>) {
    this.#rules = rules;
    this.timeline = new Timeline(rules);
  }

  /** The same array as long as the list has not changed by members, order or values. */
  get rows(): readonly Row[] {
    return this.timeline.rows;
  }

  /** Takes a status, and a list unless a newer one is shown; returns whether the status or the rows have changed. */
  take(status: LiveStatus, list: Answer | null): boolean {
    const { rows, status: statusBefore } = this;
    this.status = status;
    if (list !== null && list.logicalTime > (this.list?.logicalTime ?? 0)) this.#takeList(list);
    this.changed();
    return this.rows !== rows || status !== statusBefore;
  }

  #takeList(list: Answer): void {
    const { rowsOf } = this.#rules;
    const [rows, before] = [rowsOf(list), this.list];
    const isKnown = before !== null && rowsOf(before) === rows;
    const advanced = isKnown ? null : this.timeline.advance(rows, this.version + 1);
    this.list = list;
    if (advanced === null) return;
    const { isContent, isMembers } = advanced;
    if (isContent) {
      this.version += 1;
      this.#totals = null;
    }
    if (isMembers) this.membersTime = list.logicalTime;
  }

  protected event(version: number, cursor: string): LiveEvent<Totals> {
    this.#totals ??= { now: this.#rules.totalsOf(this.rows) };
    // The list may have been made right then, however long it was on its way.
    const asOf = new Date(this.#rules.clock.dateOf(this.list?.sentAtMs ?? 0));
    const { status } = this;
    return { cursor, snapshot: version === SNAPSHOT, totals: this.#totals.now, status, asOf };
  }

  protected changed(): void {
    this.changes.changed(this.version);
  }
}
