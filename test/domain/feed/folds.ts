import type { Viewer } from '../../../src/domain/auth/viewer.ts';
import { createSeededRandom, type SeededRandom } from '../../support/seeded-random.ts';
import { createLiveBench, LOGIN } from './live-bench.ts';
import { gatewayError, position } from './scripted-gateway.ts';

/** A row of the gateway's list. `profit` is a moving field, `comment` is not. */
interface Row {
  readonly id: string;
  readonly profit: number | null;
  readonly comment: string | null;
}

interface FeedEvent {
  readonly cursor: string;
  readonly snapshot: boolean;
  readonly status: 'LIVE' | 'DELAYED';
  readonly asOf: Date;
  readonly upserted: readonly Row[];
  readonly ticks: readonly Row[];
  readonly closed: readonly string[];
}

/** Proofs lapse during a history, but no subscription ends because its first list is late. */
const TIMES = { proofMs: 8_000, firstListMs: 600_000 };

/** A list that the gateway had, as text, and when it got this list. */
interface State {
  readonly fromMs: number;
  readonly text: string;
}

const textOf = (rows: Iterable<Row>) =>
  JSON.stringify([...rows].map(({ id, profit, comment }) => [id, profit, comment]).sort());

/** A client that applies the events it receives, and stores its list at each cursor. */
class Device {
  readonly problems: string[] = [];
  readonly #states: readonly State[];
  readonly #rowsByCursor = new Map<string, ReadonlyMap<string, Row>>();
  rows = new Map<string, Row>();
  status: FeedEvent['status'] | null = null;
  events = 0;
  hasEnded = false;
  #isSlow = false;
  /** Called when the device reads again. */
  #resume = () => {};
  #stream: AsyncIterator<FeedEvent, undefined> | null = null;

  constructor(states: readonly State[]) {
    this.#states = states;
  }

  get cursors(): readonly string[] {
    return [...this.#rowsByCursor.keys()];
  }

  /** Receives the events of a new subscription. The device starts with the list that it had at the cursor `after`. */
  follow(stream: AsyncIterator<FeedEvent, undefined>, after: string | null): void {
    this.#stream = stream;
    this.hasEnded = false;
    this.status = null;
    // Without a cursor the first event must replace the client's list.
    this.rows = new Map(after === null ? [['stale', STALE]] : this.#rowsByCursor.get(after));
    void this.#read(stream);
  }

  leave(): void {
    void this.#stream?.return?.();
  }

  get isSlow(): boolean {
    return this.#isSlow;
  }

  set isSlow(isSlow: boolean) {
    this.#isSlow = isSlow;
    if (!isSlow) this.#resume();
  }

  async #read(stream: AsyncIterator<FeedEvent, undefined>): Promise<void> {
    for (let read = 0; read < MAX_EVENTS && stream === this.#stream; read += 1) {
      const next = await stream.next().catch(() => null);
      if (next === null || next.done) break;
      this.#apply(next.value);
      while (this.#isSlow) await new Promise<void>((resolve) => (this.#resume = resolve));
    }
    if (stream === this.#stream) this.hasEnded = true;
  }

  #apply({ cursor, snapshot, status, asOf, upserted, ticks, closed }: FeedEvent): void {
    if (snapshot) this.rows.clear();
    for (const id of closed) this.rows.delete(id);
    for (const row of upserted) this.rows.set(row.id, row);
    for (const { id, profit } of ticks)
      this.rows.set(id, { ...(this.rows.get(id) ?? STALE), profit });
    this.events += 1;
    this.status = status;
    this.#rowsByCursor.set(cursor, new Map(this.rows));
    const shown = textOf(this.rows.values());
    const atMs = asOf.getTime();
    const possible = textsAt(this.#states, atMs);
    if (!possible.includes(shown))
      this.problems.push(`${shown} was not the list of ${atMs}: ${possible}`);
  }
}

/** The lists of this time. A change in this millisecond may be later than the call, so the former list counts too. */
function textsAt(states: readonly State[], atMs: number): readonly string[] {
  const last = states.findLastIndex(({ fromMs }) => fromMs <= atMs);
  const possible = states.filter((_state, index) => {
    const replacedMs = states[index + 1]?.fromMs ?? 0;
    return index === last || (index < last && replacedMs >= atMs);
  });
  return possible.map(({ text }) => text);
}

/** Far more events than any history has. */
const MAX_EVENTS = 10_000;
const STALE: Row = { id: 'stale', profit: null, comment: 'never sent' };
const DEVICES = 4;
const STEPS = 24;
const IDS = ['a', 'b', 'c', 'd', 'e'];

/** Runs one random history of a list and its subscribers. Returns how they differ from the gateway's list, and the events. */
export async function foldHistory(seed: number) {
  const random = createSeededRandom(seed);
  const { clock, gateway, ledger, viewer, watch } = createLiveBench(TIMES);
  const revoked = new Set<string>();
  const isRevoked = ({ token }: Viewer) => revoked.has(token.text);
  let isDown = false;
  const faultOf = (caller: Viewer) => {
    if (isRevoked(caller)) return gatewayError('unauthenticated');
    return isDown ? gatewayError('unavailable') : null;
  };
  gateway.fault = faultOf;
  gateway.sessionFault = faultOf;
  const states: State[] = [];
  let current: readonly Row[] = [];
  const setList = (rows: readonly Row[]) => {
    current = rows;
    const positions = rows.map((row) => position(row.id, row));
    gateway.set(LOGIN, positions);
    states.push({ fromMs: clock.now(), text: textOf(rows) });
  };
  /** Sets the latency of later answers; null takes the gateway down. */
  const setLatency = (ms: number | null) => {
    isDown = ms === null;
    gateway.latencyMs = ms ?? 0;
  };
  let tokens = 0;
  const viewers: Viewer[] = [];
  const devices = Array.from({ length: DEVICES }, () => new Device(states));
  function connect(index: number): void {
    const device = devices[index] as Device;
    device.leave();
    if (viewers[index] === undefined || isRevoked(viewers[index])) {
      tokens += 1;
      // The last two of the four devices share a token.
      viewers[index] = index === 3 && viewers[2] ? viewers[2] : viewer(`${tokens}`);
    }
    const own = viewers[index];
    if (isRevoked(own)) return;
    const resumes = device.cursors.length > 0 && random.happens(0.8);
    const after = resumes ? random.pick(device.cursors) : null;
    const intervalMs = random.pick([1, 1, 700, 2_500]);
    const stream = watch(own, { after, ticks: index % 2 === 0, intervalMs });
    device.follow(stream, after);
  }
  setList([{ id: 'a', profit: 1, comment: '' }]);
  for (const index of devices.keys()) connect(index);
  for (let step = 0; step < STEPS; step += 1) {
    const index = random.below(DEVICES);
    const device = devices[index] as Device;
    // The bounds are sums of shares: half of the steps change the list, and the next 12% connect a device again.
    const chance = random.next();
    if (chance < 0.5) setList(changed(current, step, random));
    else if (chance < 0.62) connect(index);
    else if (chance < 0.7) device.leave();
    else if (chance < 0.78) device.isSlow = !device.isSlow;
    else if (chance < 0.86) setLatency(random.pick([0, 0, 150, 1_400, null]));
    else if (chance < 0.92) {
      const own = viewers[index] as Viewer;
      revoked.add(own.token.text);
      // In half of the cases another call is refused first. In the other half the next poll is refused first.
      if (random.happens(0.5)) ledger.refused(own);
    }
    await clock.advance(random.below(1_500));
  }
  setLatency(0);
  for (const [index, device] of devices.entries()) {
    device.isSlow = false;
    connect(index);
    // A connection with a revoked token fails, so the device tries once more.
    if (device.hasEnded || isRevoked(viewers[index] as Viewer)) connect(index);
  }
  await clock.advance(60_000);
  const problems = devices.flatMap((device, index) => {
    const { status, rows } = device;
    const [shown, expected] = [textOf(rows.values()), textOf(current)];
    if (status === 'LIVE' && shown === expected) return device.problems;
    return [...device.problems, `device ${index} has ${shown}, ${status}, of ${expected}`];
  });
  for (const device of devices) device.leave();
  return { problems, events: devices.reduce((sum, { events }) => sum + events, 0) };
}

/** Removes, reorders, changes or adds rows. */
function changed(rows: readonly Row[], step: number, random: SeededRandom): readonly Row[] {
  const chance = random.next();
  const id = random.pick(IDS);
  const others = rows.filter((row) => row.id !== id);
  if (chance < 0.25) return others;
  if (chance < 0.35) return rows.toReversed();
  if (chance < 0.6)
    return rows.map((row) => (random.happens(0.5) ? { ...row, profit: step } : row));
  if (chance < 0.7) return rows.map((row) => ({ ...row, comment: `${step}` }));
  return [...others, { id, profit: step, comment: random.happens(0.3) ? `${step}` : '' }];
}
