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
import { ShownLists, StateHistory } from './state-history.ts';
import { ACCOUNT, CHANGES, type Watcher, webSocketClient } from './watcher.ts';

export interface FoldCheck {
  readonly seed: number;
  /** How often the account changes. */
  readonly steps: number;
  readonly lagMs?: Partial<Record<LaggingRead, number>>;
  readonly delayMs?: Partial<Record<LaggingRead, number>>;
  readonly failEvery?: Partial<Record<LaggingRead, number>>;
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
export async function checkFolding({ seed, steps, ...gatewaySays }: FoldCheck) {
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
    return { client, watcher, lists: checkEvents(watcher, history) };
  });
  const mayFail = gatewaySays.failEvery !== undefined;
  const devices = [1, 2].map(() => openDevice(app, history, mayFail));
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
  const asked = () => devices.reduce((sum, device) => sum + device.asked(), 0);
  const told = () => watchers.reduce((sum, { events }) => sum + events.length, 0);
  // A busy machine needs more steps for as many queries and events.
  const isQuiet = () => asked() < steps / 4 || told() <= steps / 2;
  for (let step = 0; step < steps || (isQuiet() && step < 50 * steps); step += 1) {
    change(gateway, history, random);
    await delay(random.below(2 * STEP_MS));
  }
  isOver = true;
  await Promise.all(asking);
  await eventually(() => watchers.every((watcher) => history.isNewest(watcher)));
  await Promise.all(clients.map(({ client }) => client.dispose()));
  return {
    problems: [...clients, ...devices].flatMap(({ lists }) => lists.problems),
    events: told(),
    queries: asked(),
    states: gateway.states.length,
  };
}

/** Checks the lists of a subscriber as it folds them. */
function checkEvents(watcher: Watcher, history: StateHistory): ShownLists {
  const lists = new ShownLists(history);
  const { next } = watcher.sink;
  let state = 0;
  watcher.sink.next = (result) => {
    next(result);
    if (!result.data) return;
    const { last, rows, orders, accountEvents } = watcher;
    const { asOf = '' } = last ?? {};
    state = lists.check(rows, Math.max(state, history.atLeast(Date.parse(asOf))), asOf);
    history.serve(state);
    if (accountEvents.at(-1)?.orders) lists.checkOrders([...orders.keys()], [...rows.keys()], asOf);
  };
  return lists;
}

/** A device that asks now and then, and is shown whole lists. */
function openDevice(app: TestApp, history: StateHistory, mayFail: boolean) {
  const token = app.sandbox.token(DEMO);
  const lists = new ShownLists(history);
  let asked = 0;
  async function ask(document: string): Promise<void> {
    const servedBefore = history.served;
    const { data, errors } = await app.query(document, { token });
    asked += 1;
    if (errors.length > 0) {
      if (!mayFail) lists.problems.push(`${document}: ${errors[0]?.message}`);
      return;
    }
    const { session, positions, positionTotals, orders } = data;
    // A snapshot's rows are as old as the snapshot, which may lag.
    if (session) lists.check(rowsOf(session.positions), 0, document);
    if (!positions) return;
    history.serve(lists.check(rowsOf(positions), servedBefore, document));
    if (positionTotals && positionTotals.count !== positions.length) {
      lists.problems.push(`${document}: counts ${positionTotals.count} of ${positions.length}`);
    }
    if (orders) lists.checkOrders(idsOf(orders), idsOf(positions), `${document} ${asked}`);
  }
  return { lists, ask, asked: () => asked };
}

const rowsOf = (rows: readonly Row[]) => rows.map((row) => [row.id, row] as const);
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
