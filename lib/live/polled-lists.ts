import type { LogicalClock } from '../clock.ts';
import type { PullStream } from '../pull-stream.ts';
import { type ListAnswer, type ListChanges, ListState } from './list-state.ts';
import { LiveList } from './live-list.ts';
import { LiveLists } from './live-lists.ts';
import type { LiveOptions, LiveViewer, WatchOptions } from './live-options.ts';
import { ChangesReader } from './readers.ts';
import type { RowRules } from './timeline.ts';

interface Rows<Row> {
  readonly rows: readonly Row[];
}

export interface PolledListsOptions<Viewer, Row, Read extends Rows<Row>, Of>
  extends LiveOptions<Viewer>,
    RowRules<Row> {
  readonly logicalClock: LogicalClock;
  /** Reads the whole list of `of`. `shown`: what its last read brought; the same `rows` again are known to be equal. */
  read(viewer: Viewer, of: Of, shown: Read | null): Promise<Read>;
}

type State<Row, Read> = ListState<Row, ListAnswer & Read>;

/** Live lists that are known by a read alone: one for each key that is followed. */
export class PolledLists<
  Viewer extends LiveViewer,
  Row,
  Read extends Rows<Row> = Rows<Row>,
  Of = null,
> extends LiveLists<Viewer, PolledList<Viewer, Row, Read, Of>> {
  readonly #options: PolledListsOptions<Viewer, Row, Read, Of>;

  constructor(options: PolledListsOptions<Viewer, Row, Read, Of>) {
    super(options);
    this.#options = options;
  }

  /** Emits a snapshot, or resumes at `after`, then deltas. */
  follow(
    { key, of, viewer }: { readonly key: string; readonly of: Of; readonly viewer: Viewer },
    how: WatchOptions,
  ): PullStream<ListChanges<Row, null>> {
    const reader = new ChangesReader(({ changes }: State<Row, Read>) => changes, how);
    const create = (onClosed: () => void) => new PolledList(of, this.#options, onClosed);
    return this.watch(key, { ...how, viewer, reader }, create);
  }
}

class PolledList<Viewer extends LiveViewer, Row, Read extends Rows<Row>, Of> extends LiveList<
  Viewer,
  ListAnswer & Read,
  State<Row, Read>
> {
  readonly #of: Of;
  readonly #options: PolledListsOptions<Viewer, Row, Read, Of>;

  constructor(of: Of, options: PolledListsOptions<Viewer, Row, Read, Of>, onClosed: () => void) {
    const { keyOf, isSame, isSameBesides } = options;
    const rowsOf = ({ rows }: ListAnswer & Read) => rows;
    const rules = { keyOf, isSame, isSameBesides, rowsOf, totalsOf: () => null };
    super(new ListState(rules), options, onClosed);
    this.#of = of;
    this.#options = options;
  }

  protected override async read(viewer: Viewer): Promise<ListAnswer & Read> {
    const { clock, logicalClock } = this.#options;
    const sent = { logicalTime: logicalClock.next(), sentAtMs: clock.now() };
    // A read that has found nothing new returns what is shown, with its times.
    return { ...(await this.#options.read(viewer, this.#of, this.state.list)), ...sent };
  }
}
