import type { Viewer } from '../../../src/domain/auth/viewer.ts';
import type { PullStream, StreamListener } from '../../../src/lib/pull-stream.ts';
import { createSeededRandom, type SeededRandom } from '../../support/seeded-random.ts';
import { createLiveBench, LOGIN } from './live-bench.ts';
import { gatewayError, position } from './scripted-gateway.ts';

/** A row of the gateway's list. `profit` is a moving field, `comment` is not. */
interface Row {
  readonly id: string;
  readonly profit: number | null;
  readonly comment: string | null;
}

interface FoldedEvent {
  readonly cursor: string;
  readonly snapshot: boolean;
  readonly status: 'LIVE' | 'DELAYED';
  readonly asOf: Date;
  readonly upserted: readonly Row[];
  readonly ticks: readonly Row[];
  readonly closed: readonly string[];
}

interface Following {
  readonly after: string | null;
  readonly ticks: boolean;
  readonly intervalMs: number;
}

type Bench = ReturnType<typeof createLiveBench>;

/** The live list of one account, with controls for its gateway. */
interface World {
  readonly bench: Bench;
  set(rows: readonly Row[]): void;
  follow(viewer: Viewer, how: Following): PullStream<FoldedEvent>;
  /** The latency of later answers; null: the gateway fails. */
  latencyMs: number | null;
}

const TIMES = { proofMs: 8_000, firstListMs: 600_000 };

function createWorld(): World {
  const bench = createLiveBench(TIMES);
  return {
    bench,
    latencyMs: 0,
    set: (rows) =>
      bench.gateway.set(
        LOGIN,
        rows.map((row) => position(row.id, row)),
      ),
    follow: (viewer, how) => bench.feeds.watch(bench.prove(viewer), viewer, how),
  };
}

/** The gateway's list, as text, and since when it is that. */
interface State {
  readonly fromMs: number;
  readonly text: string;
}

const textOf = (rows: Iterable<Row>) =>
  JSON.stringify([...rows].map(({ id, profit, comment }) => [id, profit, comment]).sort());

/** A client that applies the events it receives, and keeps its list at each cursor. */
class Device implements StreamListener {
  readonly problems: string[] = [];
  readonly #states: readonly State[];
  readonly #rowsAt = new Map<string, ReadonlyMap<string, Row>>();
  rows = new Map<string, Row>();
  status: FoldedEvent['status'] | null = null;
  events = 0;
  isSlow = false;
  hasEnded = false;
  #stream: PullStream<FoldedEvent> | null = null;

  constructor(states: readonly State[]) {
    this.#states = states;
  }

  get cursors(): readonly string[] {
    return [...this.#rowsAt.keys()];
  }

  /** Subscribes again, with the list that it had at a cursor. */
  follow(stream: PullStream<FoldedEvent>, after: string | null): void {
    this.#stream = stream;
    this.hasEnded = false;
    this.status = null;
    // Without a cursor the first event must replace the client's list.
    this.rows = new Map(after === null ? [['stale', STALE]] : this.#rowsAt.get(after));
    stream.listen(this);
  }

  leave(): void {
    this.#stream?.leave();
  }

  woken(): void {
    if (this.isSlow) return;
    const event = this.#stream?.take();
    if (event !== undefined) this.#fold(event);
  }

  ended(): void {
    this.hasEnded = true;
  }

  #fold({ cursor, snapshot, status, asOf, upserted, ticks, closed }: FoldedEvent): void {
    if (snapshot) this.rows.clear();
    for (const id of closed) this.rows.delete(id);
    for (const row of upserted) this.rows.set(row.id, row);
    for (const { id, profit } of ticks)
      this.rows.set(id, { ...(this.rows.get(id) ?? STALE), profit });
    this.events += 1;
    this.status = status;
    this.#rowsAt.set(cursor, new Map(this.rows));
    const shown = textOf(this.rows.values());
    const atMs = asOf.getTime();
    const last = this.#states.findLastIndex(({ fromMs }) => fromMs <= atMs);
    // The list of this moment. A change in the same millisecond may be later than the call, so the list before it counts too.
    const possible = this.#states.filter(
      (_state, at) => at === last || (at < last && (this.#states[at + 1]?.fromMs ?? 0) >= atMs),
    );
    if (!possible.some(({ text }) => text === shown)) {
      this.problems.push(
        `${shown} was not the list of ${atMs}: ${possible.map(({ text }) => text)}`,
      );
    }
  }
}

const STALE: Row = { id: 'stale', profit: null, comment: 'never sent' };
const DEVICES = 4;
const STEPS = 24;
const IDS = ['a', 'b', 'c', 'd', 'e'];

/** Runs one random history of a list and its subscribers. Returns the differences from the gateway's list. */
export async function foldHistory(seed: number) {
  const random = createSeededRandom(seed);
  const world = createWorld();
  const { clock, gateway, ledger, viewer } = world.bench;
  const revoked = new Set<string>();
  const faultOf = ({ token }: Viewer) => {
    if (token !== null && revoked.has(token.text)) return gatewayError('unauthenticated');
    return world.latencyMs === null ? gatewayError('unavailable') : null;
  };
  gateway.fault = faultOf;
  gateway.sessionFault = faultOf;
  const states: State[] = [];
  let truth: readonly Row[] = [];
  const become = (rows: readonly Row[]) => {
    truth = rows;
    world.set(rows);
    states.push({ fromMs: clock.now(), text: textOf(rows) });
  };
  let tokens = 0;
  const viewers: Viewer[] = [];
  const devices = Array.from({ length: DEVICES }, () => new Device(states));
  const answerAfter = (ms: number | null) => {
    world.latencyMs = ms;
    gateway.latencyMs = ms ?? 0;
  };
  function connect(at: number): void {
    const device = devices[at] as Device;
    device.leave();
    // Two of the four devices share a token.
    if (viewers[at] === undefined || revoked.has(viewers[at].token.text)) {
      tokens += 1;
      viewers[at] = at === 3 && viewers[2] ? viewers[2] : viewer(`${tokens}`);
    }
    const own = viewers[at];
    if (revoked.has(own.token.text)) return;
    const after =
      device.cursors.length > 0 && random.happens(0.8) ? random.pick(device.cursors) : null;
    const how = { after, ticks: at % 2 === 0, intervalMs: random.pick([0, 0, 700, 2_500]) || 1 };
    device.follow(world.follow(own, how), after);
  }
  become([{ id: 'a', profit: 1, comment: '' }]);
  for (const at of devices.keys()) connect(at);
  for (let step = 0; step < STEPS; step += 1) {
    const at = random.below(DEVICES);
    const device = devices[at] as Device;
    const kind = random.next();
    if (kind < 0.5) become(changed(truth, step, random));
    else if (kind < 0.62) connect(at);
    else if (kind < 0.7) device.leave();
    else if (kind < 0.78) device.isSlow = !device.isSlow;
    else if (kind < 0.86) answerAfter(random.pick([0, 0, 150, 1_400, null]));
    else if (kind < 0.92) {
      const own = viewers[at] as Viewer;
      revoked.add(own.token.text);
      // In half of the cases another call is refused first, otherwise the next poll.
      if (random.happens(0.5)) ledger.refused(own);
    }
    if (!device.isSlow) device.woken();
    await clock.advance(random.below(1_500));
  }
  answerAfter(0);
  for (const [at, device] of devices.entries()) {
    device.isSlow = false;
    connect(at);
    if (device.hasEnded || revoked.has((viewers[at] as Viewer).token.text)) connect(at);
  }
  await clock.advance(60_000);
  const problems = devices.flatMap((device, at) => [
    ...device.problems,
    ...(device.status === 'LIVE' && textOf(device.rows.values()) === textOf(truth)
      ? []
      : [
          `device ${at} has ${textOf(device.rows.values())}, ${device.status}, of ${textOf(truth)}`,
        ]),
  ]);
  for (const device of devices) device.leave();
  return { problems, events: devices.reduce((sum, { events }) => sum + events, 0) };
}

/** Adds, removes, moves, changes or reorders rows. */
function changed(rows: readonly Row[], step: number, random: SeededRandom): readonly Row[] {
  const kind = random.next();
  const id = random.pick(IDS);
  const others = rows.filter((row) => row.id !== id);
  if (kind < 0.25) return others;
  if (kind < 0.35) return rows.toReversed();
  if (kind < 0.6) return rows.map((row) => (random.happens(0.5) ? { ...row, profit: step } : row));
  if (kind < 0.7) return rows.map((row) => ({ ...row, comment: `${step}` }));
  return [...others, { id, profit: step, comment: random.happens(0.3) ? `${step}` : '' }];
}
