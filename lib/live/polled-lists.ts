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
> extends LiveLists<Viewer, LiveList<Viewer, State<Row, Read>>, Of> {
  constructor(options: PolledListsOptions<Viewer, Row, Read, Of>) {
    const { clock, logicalClock } = options;
    const rowsOf = ({ rows }: ListAnswer & Read) => rows;
    super(options, (of, onClosed) => {
      const state: State<Row, Read> = new ListState({ ...options, rowsOf, totalsOf: () => null });
      const read = async (viewer: Viewer) => {
        const sent = { logicalTime: logicalClock.next(), sentAtMs: clock.now() };
        // A read that has found nothing new returns what is shown, with its times.
        return { ...(await options.read(viewer, of, state.list)), ...sent };
      };
      return new LiveList(state, options, onClosed, read);
    });
  }

  /** Emits a snapshot, or resumes at `after`, then deltas. */
  follow(
    { key, of, viewer }: { readonly key: string; readonly of: Of; readonly viewer: Viewer },
    how: WatchOptions,
  ): PullStream<ListChanges<Row, null>> {
    const reader = new ChangesReader(({ changes }: State<Row, Read>) => changes, how);
    return this.watch(key, of, { ...how, viewer, reader });
  }
}
