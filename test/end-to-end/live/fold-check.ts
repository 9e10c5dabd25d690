import { setTimeout as delay } from 'node:timers/promises';
import { startSandbox } from '../../../sandbox/start.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type LaggingGateway,
  type LaggingRead,
  startLaggingGateway,
} from '../../support/lagging-gateway.ts';
import { createSeededRandom, type SeededRandom } from '../orders/seeded-random.ts';
import { FoldedLists, ShownOrders, StateHistory } from './state-history.ts';
import { ACCOUNT, CHANGES, webSocketClient } from './watcher.ts';

export interface FoldCheck {
  readonly seed: number;
  /** How often the account changes. */
  readonly steps: number;
  readonly lagMs?: Partial<Record<LaggingRead, number>>;
  readonly delayMs?: Partial<Record<LaggingRead, number>>;
  readonly failEvery?: Partial<Record<LaggingRead, number>>;
}

export interface FoldReport {
  readonly problems: readonly string[];
  readonly events: number;
  readonly queries: number;
  readonly states: number;
}

const LOGIN = '700001';
const DEMO = { email: 'demo@example.com' };
const POLL_MS = 200;
const STEP_MS = 60;

/** What another device asks for meanwhile. */
const QUERIES = [
  '{ session { positions { id profit } } }',
  '{ session(maxAge: 0) { positions { id profit } orders { id } } }',
  '{ orders { id } positions { id profit } }',
  '{ positions { id profit } orders(maxAge: 0) { id } }',
  '{ positions { id profit } positionTotals { count } }',
];

/**
 * Folds the events of an account as its clients do, while the account changes at random and other devices read it, and
 * compares each list that is shown with the gateway's own states.
 */
export async function checkFolding({
  seed,
  steps,
  ...gatewaySays
}: FoldCheck): Promise<FoldReport> {
  const random = createSeededRandom(seed);
  await using sandbox = await startSandbox({ tickMs: 0, instruments: 10 });
  await using gateway = await startLaggingGateway(LOGIN);
  Object.assign(gateway.lagMs, gatewaySays.lagMs);
  Object.assign(gateway.delayMs, gatewaySays.delayMs);
  const history = new StateHistory(gateway);
  const environment = {
    GATEWAY_URL: gateway.url,
    POSITIONS_POLL_MS: String(POLL_MS),
    SESSION_MAX_AGE_SECONDS: '1',
    RATE_LIMIT_PER_MINUTE: '1000000',
  };
  await using app = await startTestApp(environment, { gateway: sandbox });
  const clients = [ACCOUNT, ACCOUNT, CHANGES].map((document) => {
    const client = webSocketClient(app, sandbox.token(DEMO));
    const watcher = client.watch({}, document);
    const lists = new FoldedLists(history);
    const { next } = watcher.sink;
    watcher.sink.next = (result) => {
      next(result);
      if (result.data) lists.check(watcher);
    };
    return { client, watcher, lists };
  });
  const devices = [sandbox.token(DEMO), sandbox.token(DEMO)].map(
    (token) => new Device(app, token, history, gatewaySays.failEvery !== undefined),
  );
  const watchers = clients.map(({ watcher }) => watcher);
  await eventually(() => watchers.every(({ last }) => last !== undefined));
  // A subscription whose token was never proved would end by a failure, as it should.
  Object.assign(gateway.failEvery, gatewaySays.failEvery);
  let isOver = false;
  const asking = devices.map(async (device) => {
    while (!isOver) {
      await device.ask(random.pick(QUERIES));
      await delay(random.below(POLL_MS));
    }
  });
  const asked = () => devices.reduce((sum, device) => sum + device.asked, 0);
  // A busy machine needs more steps for as many queries.
  for (let step = 0; step < steps || (asked() < steps / 4 && step < 50 * steps); step += 1) {
    change(gateway, history, random);
    await delay(random.below(2 * STEP_MS));
  }
  isOver = true;
  await Promise.all(asking);
  await eventually(() => watchers.every((watcher) => history.isNewest(watcher)));
  await Promise.all(clients.map(({ client }) => client.dispose()));
  return {
    problems: [...clients.map(({ lists }) => lists), ...devices].flatMap(
      ({ problems }) => problems,
    ),
    events: watchers.reduce((sum, { events }) => sum + events.length, 0),
    queries: asked(),
    states: gateway.states.length,
  };
}

/** A device that asks now and then, and is shown whole lists. */
class Device {
  readonly problems: string[] = [];
  asked = 0;
  readonly #app: TestApp;
  readonly #token: string;
  readonly #history: StateHistory;
  readonly #mayFail: boolean;
  readonly #shown: ShownOrders;

  constructor(app: TestApp, token: string, history: StateHistory, mayFail: boolean) {
    this.#app = app;
    this.#token = token;
    this.#history = history;
    this.#shown = new ShownOrders(history);
    this.#mayFail = mayFail;
  }

  async ask(document: string): Promise<void> {
    const servedBefore = this.#history.served;
    const { data, errors } = await this.#app.query(document, { token: this.#token });
    this.asked += 1;
    if (errors.length > 0) {
      if (!this.#mayFail) this.problems.push(`${document}: ${errors[0]?.message}`);
      return;
    }
    const { session, positions, positionTotals, orders } = data;
    // A snapshot's rows are as old as the snapshot, which may lag.
    if (session) this.#match(document, session.positions, null);
    if (!positions) return;
    this.#match(document, positions, servedBefore);
    if (positionTotals && positionTotals.count !== positions.length) {
      this.problems.push(`${document}: counts ${positionTotals.count} of ${positions.length}`);
    }
    if (!orders) return;
    for (const id of this.#shown.lost(idsOf(orders), idsOf(positions), this.asked)) {
      this.problems.push(`${document}: order ${id} is nowhere`);
    }
  }

  /** `from` is null where the list may be older than others that were shown. */
  #match(document: string, rows: readonly Row[], from: number | null): void {
    const list = rows.map((row) => [row.id, row] as const);
    const state = this.#history.match(list, from ?? 0);
    if (typeof state === 'string') this.problems.push(`${document}: ${state}`);
    else if (from !== null) this.#history.serve(state);
  }
}

const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id);

interface Row {
  readonly id: string;
  readonly profit: number;
}

/** Places, triggers, cancels, closes or moves, whatever there is. */
function change(gateway: LaggingGateway, history: StateHistory, random: SeededRandom): void {
  gateway.change(({ number, orders, positions }) => {
    const kind = random.next();
    const order = [...orders][random.below(orders.size)];
    const position = [...positions.keys()][random.below(positions.size)];
    if (kind < 0.3 && order !== undefined) {
      orders.delete(order);
      positions.set(order, number);
    } else if (kind < 0.35 && order !== undefined) {
      orders.delete(order);
      history.gone.add(order);
    } else if (kind < 0.5 && position !== undefined) {
      positions.delete(position);
      history.gone.add(position);
    } else if (kind < 0.7 && position !== undefined) positions.set(position, number);
    else orders.add(`o${number}`);
  });
}
