import { setTimeout as delay } from 'node:timers/promises';
import { webSocketClient } from '../../end-to-end/live/watcher.ts';
import { startTestApp, type TestApp } from '../app.ts';
import { startAlertmanager } from './alertmanager.ts';
import { HASTENED_BY } from './hastened.ts';
import { startPrometheus } from './prometheus.ts';
import type { Scene } from './scenes.ts';

export interface Rehearsal {
  /** Seconds from the fault to each alert, in the order in which they fired. */
  readonly fired: ReadonlyMap<string, number>;
  /** The alerts that woke somebody: no more than one, of the cause. */
  readonly pages: readonly string[];
  /** Whether the alerts ended with the fault. */
  readonly isOver: boolean;
}

const HOME =
  'query Home { session(maxAge: 0) { balance } positions { id } customerId catalog { version } }';
const ORDER = `mutation Order($key: String!) {
  placeOrder(input: { symbol: "AAPL", side: BUY, size: { units: 1 }, idempotencyKey: $key }) { __typename }
}`;
const ACCOUNTS = 20;
const REQUESTS_PER_SECOND = 10;
const REQUESTS_PER_ORDER = 5;
const WATCHERS = 6;
const WITHIN_MS = 90_000;
const CALM_MS = 10_000;
const LOOK_MS = 200;
/** A group waits, and looks again at what was inhibited: both of a page. */
const PAGE_WITHIN_MS = 2_000 + 90_000 / HASTENED_BY;

/** Acts one scene before a service with traffic, and notes which alerts tell of it and whom they wake. */
export async function rehearse(
  { alerts, environment, begin, end }: Scene,
  tools: { readonly prometheusPath: string; readonly alertmanagerPath: string },
): Promise<Rehearsal> {
  await using app = await startTestApp({
    SANDBOX_INSTRUMENTS: '100',
    RATE_LIMIT_PER_MINUTE: '1000000',
    // Short beside the hastened windows of the rules.
    ...{ GATEWAY_TIMEOUT_MS: '1000', CATALOG_TIMEOUT_MS: '1000', ORDER_TIMEOUT_MS: '2000' },
    ...environment,
  });
  // Its catalog is as old as the hour; here it is as old as its answer.
  app.sandbox.changeCatalog({ ageSeconds: null });
  await using alertmanager = await startAlertmanager(tools.alertmanagerPath);
  const { url, pages } = alertmanager;
  await using prometheus = await startPrometheus(tools.prometheusPath, app.adminUrl, url);
  await using _traffic = startTraffic(app);
  // Until it knows its targets a door counts as shut.
  await delay(CALM_MS);
  await until(async () => (await prometheus.firing()).size === 0);

  const fired = new Map<string, number>();
  const beganAtMs = performance.now();
  begin(app.sandbox);
  await until(async () => {
    const seconds = (performance.now() - beganAtMs) / 1_000;
    for (const name of await prometheus.firing()) if (!fired.has(name)) fired.set(name, seconds);
    return alerts.every((name) => fired.has(name));
  });
  await delay(PAGE_WITHIN_MS);
  const woken = [...pages];
  end(app.sandbox);
  const isOver = await until(async () => {
    const firing = await prometheus.firing();
    return !alerts.some((name) => firing.has(name));
  });
  return { fired, pages: woken, isOver };
}

/** Steady requests of one account after the other, an order among every few, and a live list for each of the first. */
function startTraffic(app: TestApp): AsyncDisposable {
  let sent = 0;
  const tokenOf = (user: number) => app.sandbox.token({ email: `user-${user}@example.com` });
  const tokens = Array.from({ length: ACCOUNTS }, (_, at) => tokenOf(at + 1));
  const timer = setInterval(() => {
    const token = tokens[sent % ACCOUNTS] as string;
    const isOrder = sent % REQUESTS_PER_ORDER === 0;
    sent += 1;
    const variables = { key: `order-${sent}` };
    // What fails is told by the alerts.
    app.query(isOrder ? ORDER : HOME, { token, variables }).catch(() => {});
  }, 1_000 / REQUESTS_PER_SECOND);
  const clients = tokens.slice(0, WATCHERS).map((token) => webSocketClient(app, token));
  for (const client of clients) client.watch();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      for (const client of clients) await client.dispose();
    },
  };
}

async function until(isDone: () => Promise<boolean>): Promise<boolean> {
  const giveUpAtMs = performance.now() + WITHIN_MS;
  while (performance.now() < giveUpAtMs) {
    if (await isDone()) return true;
    await delay(LOOK_MS);
  }
  return false;
}
