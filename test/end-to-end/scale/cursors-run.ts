import { setTimeout as delay } from 'node:timers/promises';
import { type Sandbox, startSandbox } from '../../../sandbox/start.ts';
import { eventually } from '../../support/eventually.ts';
import { type FacadeProcess, startFacadeProcess } from '../../support/facade-process.ts';
import { type Switchboard, startSwitchboard } from '../../support/switchboard.ts';
import { type Watcher, webSocketClient } from '../live/watcher.ts';
import type { OrderClient } from '../orders/order-client.ts';
import { startOrderFacade } from '../orders/order-facade.ts';
import { buying } from '../orders/order-request.ts';
import { createSeededRandom, type SeededRandom } from '../orders/seeded-random.ts';
import { type Recovery, Viewer } from './crowd.ts';
import { foldsOf } from './strict-fold.ts';

export interface CursorRun {
  readonly seed: number;
  readonly faults: number;
  readonly onFault?: (done: number, fault: string) => void;
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
  await world.settles();
  for (let done = 1; done <= faults && differences.length === 0; done += 1) {
    const fault = await world.strike(KINDS[done % KINDS.length] ?? 'kill');
    counts.set(fault, (counts.get(fault) ?? 0) + 1);
    const difference = await world.settles().then(
      () => null,
      (error: Error) => error.message,
    );
    if (difference !== null) differences.push(`after fault ${done}, ${fault}: ${difference}`);
    onFault?.(done, fault);
  }
  const folds = world.watchers.map(({ events }) => foldsOf(events));
  const sum = (key: 'continued' | 'snapshots') => folds.reduce((all, one) => all + one[key], 0);
  return {
    differences: [...differences, ...folds.flatMap(({ misfits }) => misfits)],
    faults: counts,
    continued: sum('continued'),
    snapshots: sum('snapshots'),
    liveAgainMs: world.liveAgainMs,
    recoveries: world.recoveries,
  };
}

async function startWorld(random: SeededRandom) {
  await using started = new AsyncDisposableStack();
  const sandbox = started.use(await startSandbox({ instruments: 40, tickMs: 0 }));
  const environment = {
    GATEWAY_URL: sandbox.url,
    ORDER_STORE: 'memory',
    POSITIONS_POLL_MS: String(POLL_MS),
    RATE_LIMIT_PER_MINUTE: '1000000',
  };
  const trader = started.use(await startOrderFacade({}, sandbox)).client({ email: EMAIL });
  const replicas = await Promise.all(
    Array.from({ length: REPLICAS }, async () =>
      started.use(await startFacadeProcess(environment)),
    ),
  );
  const board = started.use(await startSwitchboard(...replicas.map(({ url }) => url)));
  const viewers = Array.from({ length: VIEWERS }, () => {
    const url = `http://${board.address}/graphql`;
    return new Viewer({ email: EMAIL, url, sandbox, route: false });
  });
  started.defer(() => {
    for (const viewer of viewers) viewer.dispose();
  });
  const watchers = Array.from({ length: WATCHERS }, () => {
    const client = webSocketClient(
      { webSocketUrl: `ws://${board.address}/graphql` },
      () => sandbox.token({ email: EMAIL }),
      {
        retryAttempts: Number.POSITIVE_INFINITY,
        shouldRetry: () => true,
        retryWait: () => delay(random.below(POLL_MS)),
      },
    );
    started.defer(async () => void (await client.dispose()));
    return client.watch();
  });
  const owned = started.move();
  const parts = { random, sandbox, trader, replicas, board, viewers, watchers };
  return Object.assign(new World(parts), {
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  });
}

interface Parts {
  readonly random: SeededRandom;
  readonly sandbox: Sandbox;
  readonly trader: OrderClient;
  readonly replicas: readonly FacadeProcess[];
  readonly board: Switchboard;
  readonly viewers: readonly Viewer[];
  readonly watchers: readonly Watcher[];
}

class World {
  readonly #parts: Parts;
  readonly liveAgainMs: number[] = [];
  readonly recoveries: Recovery[] = [];
  #orders = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get watchers(): readonly Watcher[] {
    return this.#parts.watchers;
  }

  /** One fault of a kind, while the list changes; returns its name when all replicas run again. */
  async strike(name: (typeof KINDS)[number]): Promise<string> {
    const { random, replicas, board } = this.#parts;
    const victim = random.pick(replicas);
    const changing = this.#changeWhile(async () => {
      if (name === 'kill') await this.#kill(victim);
      else if (name === 'freeze') await this.#freeze(victim);
      else {
        // All to one replica, whose feed may be another's past, and apart again with the next cut.
        if (name === 'move') board.to(victim.url);
        board.cut();
        await delay(random.below(2 * POLL_MS));
      }
      board.to(...replicas.map(({ url }) => url));
    });
    await changing;
    return name;
  }

  /** Resolves when every list is the gateway's. */
  async settles(): Promise<void> {
    const { sandbox, viewers, watchers } = this.#parts;
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

  async #kill(victim: FacadeProcess): Promise<void> {
    const { viewers } = this.#parts;
    const before = viewers.map(({ statuses }) => statuses.length);
    const killedAtMs = performance.now();
    await victim.kill();
    const restarted = victim.start();
    await Promise.all(
      viewers.map(async ({ statuses, recoveries }, at) => {
        const since = () => statuses.slice(before[at]);
        // Where it has its line elsewhere, it goes on.
        const isHit = await eventually(() => since().length > 0).then(() =>
          since().includes('OFFLINE'),
        );
        if (!isHit) return;
        await eventually(() => {
          const offline = since().indexOf('OFFLINE');
          return since().indexOf('LIVE', offline) > 0;
        });
        this.liveAgainMs.push(performance.now() - killedAtMs);
        this.recoveries.push(...recoveries.slice(-1));
      }),
    );
    await restarted;
  }

  async #freeze(victim: FacadeProcess): Promise<void> {
    const { random, board } = this.#parts;
    victim.signal('SIGSTOP');
    if (random.happens(0.5)) board.cut();
    await delay(POLL_MS + random.below(5 * POLL_MS));
    victim.signal('SIGCONT');
  }

  /** Prices move, positions open and close for as long as the task takes. */
  async #changeWhile(task: () => Promise<void>): Promise<void> {
    const running = { value: true };
    const changes = async () => {
      while (running.value) await this.#change();
    };
    await Promise.all([
      changes(),
      task().finally(() => {
        running.value = false;
      }),
    ]);
  }

  async #change(): Promise<void> {
    const { random, sandbox, trader } = this.#parts;
    const kind = random.pick(['tick', 'tick', 'open', 'close'] as const);
    if (kind === 'tick') sandbox.tick();
    else if (kind === 'open') {
      this.#orders += 1;
      const { mutation, input } = buying(`order ${this.#orders}`, 'MSFT');
      await trader.place({ mutation, input: { ...input, takeProfit: { price: 9_000 } } });
    } else {
      // Closes those that have a price to be sold at.
      sandbox.putPrice('MSFT', 10_000);
      sandbox.putPrice('MSFT', 400);
    }
    await delay(random.below(POLL_MS));
  }
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
