import { setTimeout as delay } from 'node:timers/promises';
import { startSandbox } from '../../../sandbox/start.ts';
import { eventually } from '../../support/eventually.ts';
import { type FacadeProcess, startFacadeProcess } from '../../support/facade-process.ts';
import { orderElsewhere } from '../../support/order-elsewhere.ts';
import { startSwitchboard } from '../../support/switchboard.ts';
import { type ChangesEvent, webSocketClient } from '../live/watcher.ts';
import { createSeededRandom, type SeededRandom } from '../orders/seeded-random.ts';
import { type Recovery, Viewer } from './crowd.ts';

export interface CursorRun {
  readonly seed: number;
  readonly faults: number;
  readonly onFault?: (done: number) => void;
}

export interface CursorReport {
  /** Lists that are not the gateway's, and events that do not fit the list before them. */
  readonly differences: readonly string[];
  readonly faults: ReadonlyMap<string, number>;
  /** First events after a reconnect that continue from the cursor, and those that are the whole list. */
  readonly continued: number;
  readonly snapshots: number;
  /** From each kill until each client of the project that noticed it had its next event. */
  readonly liveAgainMs: readonly number[];
  /** The end of those times: from when its new socket was open. */
  readonly recoveries: readonly Recovery[];
}

export const POLL_MS = 200;
const EMAIL = 'demo@example.com';
export const REPLICAS = 3;
const VIEWERS = 4;
const WATCHERS = 4;
const KINDS = ['kill', 'kill', 'kill', 'kill', 'freeze', 'cut', 'move'] as const;

/** Follows one account through replicas that die, freeze and come back, and compares whenever it is quiet. */
export async function runCursors({ seed, faults, onFault }: CursorRun): Promise<CursorReport> {
  await using world = await startWorld(createSeededRandom(seed));
  const counts = new Map<string, number>();
  const differences: string[] = [];
  const times: KillTimes = { liveAgainMs: [], recoveries: [] };
  await settles(world);
  for (let done = 1; done <= faults && differences.length === 0; done += 1) {
    const fault = KINDS[done % KINDS.length] ?? 'kill';
    await changeWhile(world, strike(world, fault, times));
    counts.set(fault, (counts.get(fault) ?? 0) + 1);
    await settles(world).catch((error: Error) => {
      differences.push(`after fault ${done}, ${fault}: ${error.message}`);
    });
    onFault?.(done);
  }
  const folds = world.watchers.map(({ events }) => foldsOf(events));
  const sum = (key: 'continued' | 'snapshots') => folds.reduce((all, one) => all + one[key], 0);
  return {
    differences: [...differences, ...folds.flatMap(({ misfits }) => misfits)],
    faults: counts,
    continued: sum('continued'),
    snapshots: sum('snapshots'),
    ...times,
  };
}

type World = Awaited<ReturnType<typeof startWorld>>;
type KillTimes = Record<'liveAgainMs', number[]> & Record<'recoveries', Recovery[]>;

async function startWorld(random: SeededRandom) {
  await using started = new AsyncDisposableStack();
  const sandbox = started.use(await startSandbox({ instruments: 40, tickMs: 0 }));
  const environment = {
    GATEWAY_URL: sandbox.url,
    ORDER_STORE: 'memory',
    POSITIONS_POLL_MS: String(POLL_MS),
    RATE_LIMIT_PER_MINUTE: '1000000',
  };
  const replicas = await Promise.all(
    Array.from({ length: REPLICAS }, async () =>
      started.use(await startFacadeProcess(environment)),
    ),
  );
  const board = started.use(await startSwitchboard(...replicas.map(({ url }) => url)));
  const viewers = Array.from({ length: VIEWERS }, () => {
    const url = `http://${board.address}/graphql`;
    const viewer = new Viewer({ email: EMAIL, url, sandbox, route: false });
    return started.adopt(viewer, () => viewer.dispose());
  });
  const reconnecting = {
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => true,
    retryWait: () => delay(random.below(POLL_MS)),
  };
  const watchers = Array.from({ length: WATCHERS }, () => {
    const server = { webSocketUrl: `ws://${board.address}/graphql` };
    const token = () => sandbox.token({ email: EMAIL });
    return started.use(webSocketClient(server, token, reconnecting)).watch();
  });
  const owned = started.move();
  return {
    random,
    sandbox,
    replicas,
    board,
    viewers,
    watchers,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** One fault of a kind; resolves when all replicas run again. */
async function strike(world: World, name: (typeof KINDS)[number], times: KillTimes): Promise<void> {
  const { random, replicas, board } = world;
  const victim = random.pick(replicas);
  if (name === 'kill') await kill(world, victim, times);
  else if (name === 'freeze') {
    victim.signal('SIGSTOP');
    if (random.happens(0.5)) board.cut();
    await delay(POLL_MS + random.below(5 * POLL_MS));
    victim.signal('SIGCONT');
  } else {
    // All to one replica, whose feed may be another's past, and apart again with the next cut.
    if (name === 'move') board.to(victim.url);
    board.cut();
    await delay(random.below(2 * POLL_MS));
  }
  board.to(...replicas.map(({ url }) => url));
}

async function kill({ viewers }: World, victim: FacadeProcess, times: KillTimes): Promise<void> {
  const before = viewers.map(({ statuses }) => statuses.length);
  const killedAtMs = performance.now();
  await victim.kill();
  const restarted = victim.start();
  await Promise.all(
    viewers.map(async ({ statuses, recoveries }, at) => {
      const since = () => statuses.slice(before[at]);
      await eventually(() => since().length > 0);
      // Where it has its line elsewhere, it goes on.
      if (!since().includes('OFFLINE')) return;
      await eventually(() => since().indexOf('LIVE', since().indexOf('OFFLINE')) > 0);
      times.liveAgainMs.push(performance.now() - killedAtMs);
      times.recoveries.push(...recoveries.slice(-1));
    }),
  );
  await restarted;
}

/** Resolves when every list is the gateway's. */
async function settles({ sandbox, viewers, watchers }: World): Promise<void> {
  const answer = await fetch(`${sandbox.url}/trading/positions`, {
    headers: { authorization: `Bearer ${sandbox.token({ email: EMAIL })}` },
  });
  const expected = printOf(((await answer.json()) as { positions: Row[] }).positions);
  await eventually(() => {
    const lists = [
      ...viewers.map(({ state }) => printOf(state?.positions ?? [])),
      ...watchers.map(({ list }) => printOf(list)),
    ];
    const wrong = lists.findIndex((list) => list !== expected);
    if (wrong >= 0) throw new Error(`client ${wrong} has ${lists[wrong]} instead of ${expected}`);
    return viewers.every(({ state }) => state?.status === 'LIVE');
  });
}

/** Prices move, positions open and close for as long as the task takes. */
async function changeWhile({ random, sandbox }: World, task: Promise<void>): Promise<void> {
  let isOver = false;
  const over = task.finally(() => {
    isOver = true;
  });
  const changes = async () => {
    while (!isOver) {
      const kind = random.pick(['tick', 'tick', 'open', 'close'] as const);
      if (kind === 'tick') sandbox.tick();
      else if (kind === 'open') await orderElsewhere(sandbox, EMAIL, { symbol: 'MSFT', tp: 9_000 });
      else {
        // Closes those that have a price to be sold at.
        sandbox.putPrice('MSFT', 10_000);
        sandbox.putPrice('MSFT', 400);
      }
      await delay(random.below(POLL_MS));
    }
  };
  await Promise.all([changes(), over]);
}

interface Row {
  readonly id: string;
  readonly profit: number | null;
}

function printOf(rows: readonly Row[]): string {
  return rows
    .map(({ id, profit }) => `${id}:${profit}`)
    .sort()
    .join();
}

interface Folds {
  /** Events that do not fit the list before them: a gap, or a row too many. */
  readonly misfits: readonly string[];
  /** Events on a new line that go on from the last cursor, and those that are the whole list. */
  readonly continued: number;
  readonly snapshots: number;
}

/** Folds a subscriber's events, and holds each to what the documentation says of it. */
function foldsOf(events: readonly ChangesEvent[]): Folds {
  const rows = new Set<string>();
  const misfits: string[] = [];
  let snapshots = 0;
  for (const [at, event] of events.entries()) {
    const { snapshot, upserted, opened, closed, totals } = event;
    const misfit = (words: string) => misfits.push(`event ${at}: ${words}`);
    if (snapshot) {
      snapshots += 1;
      rows.clear();
    } else {
      const unknown = closed.filter((id) => !rows.has(id));
      if (unknown.length > 0) misfit(`closes ${unknown}, which the list does not have`);
      const news = upserted.filter(({ id }) => !rows.has(id)).map(({ id }) => id);
      if (news.toSorted().join() !== opened.toSorted().join()) {
        misfit(`opens ${opened}, while ${news} are new`);
      }
    }
    for (const id of closed) rows.delete(id);
    for (const { id } of upserted) rows.add(id);
    if (rows.size !== totals.count) misfit(`leaves ${rows.size} rows of ${totals.count}`);
  }
  return { misfits, continued: events.length - snapshots, snapshots };
}
