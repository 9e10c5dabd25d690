import { setTimeout as delay } from 'node:timers/promises';
import type { Sandbox } from '../../../sandbox/start.ts';
import { eventually } from '../../support/eventually.ts';
import type { FacadeProcess } from '../../support/facade-process.ts';
import { FaultInjector, LATE_MS } from './fault-injector.ts';
import { LedgerBook, type Page, pageId } from './ledger-book.ts';
import { type Trader, Traffic } from './ledger-traffic.ts';
import { OrderClient } from './order-client.ts';
import type { Reply } from './order-request.ts';
import { contradictionsIn, type Story } from './reconcile.ts';
import { createSeededRandom } from './seeded-random.ts';

export interface LedgerRunOptions {
  readonly seed: number;
  readonly steps: number;
  /** Whether enough of each kind has occurred; until it has, more steps are taken. Without it `steps` are enough. */
  readonly isVaried?: (variety: Variety) => boolean;
  readonly sandbox: Sandbox;
  readonly facades: readonly FacadeProcess[];
  /** Run one after the other, spread evenly over the run, while orders are being placed. */
  readonly disruptions: readonly Disruption[];
  /**
   * Whether the store loses its data, and only the facades' own copies remain. Before the outcomes are read
   * they are then stopped instead of killed, so that each writes what only it knows.
   */
  readonly mayForget?: boolean;
}

export type Disruption = (
  bring: (facade: FacadeProcess, end: 'SIGKILL' | 'SIGTERM') => Promise<void>,
) => Promise<void>;

/** The number of replies of each kind. */
export type ReplyCounts = ReadonlyMap<string, number>;

export interface Variety {
  readonly replies: ReplyCounts;
  /** The number of keys whose order the gateway has applied, and whose clients have no outcome. */
  readonly unanswered: number;
}

export interface LedgerReport extends Variety {
  readonly contradictions: readonly string[];
  readonly stories: readonly Story[];
}

const WORKERS = 40;
const ACCOUNTS = 20;
const DEVICES = 2;
/** A run that is not varied by then ends all the same. */
const MAX_MS = 240_000;
/** Between steps beyond the planned ones: while the orders' breaker is open they are all alike. */
const FURTHER_STEP_MS = 50;

// The sandbox records the last thousand requests.
const READ_AFTER = 300;
const REMEMBERED = 1_000;

/** Places random orders while everything around fails, then compares the clients' ledger with the gateway's. */
export async function runLedger(options: LedgerRunOptions): Promise<LedgerReport> {
  const { seed, steps, sandbox, facades, disruptions, mayForget = false } = options;
  const { isVaried = () => true } = options;
  const random = createSeededRandom(seed);
  const book = new LedgerBook();
  const faults = new FaultInjector(sandbox, createSeededRandom(seed + 1));
  const callCounter = new OrderCallCounter(sandbox);
  const traffic = new Traffic({ random, book, faults });
  const serving = new Set(facades);
  const traders = Array.from({ length: ACCOUNTS }, (_, n) =>
    createTrader(n + 1, sandbox, facades, serving),
  );

  const endsAtMs = performance.now() + MAX_MS;
  let done = 0;
  const isOver = () =>
    done >= steps &&
    (performance.now() > endsAtMs || isVaried(varietyOf(book.pages, appliedOf(sandbox))));
  let disrupted = Promise.resolve();
  let next = 0;
  const disruptWhenDue = () => {
    if (done < (steps * (next + 1)) / (disruptions.length + 1)) return;
    const disruption = disruptions[next];
    next += 1;
    disrupted = disrupted.then(() => disruption?.(bring));
    // It is awaited below; until then it must not end the process, and leave the facades behind.
    disrupted.catch(() => {});
  };
  async function bring(facade: FacadeProcess, end: 'SIGKILL' | 'SIGTERM') {
    serving.delete(facade);
    if (end === 'SIGKILL') await facade.kill();
    else facade.signal(end);
    await facade.ended();
    await facade.start();
    serving.add(facade);
  }
  await Promise.all(
    Array.from({ length: WORKERS }, async () => {
      while (!isOver()) {
        if (serving.size === 0) await disrupted;
        if (done >= steps) await delay(FURTHER_STEP_MS);
        done += 1;
        disruptWhenDue();
        await traffic.step(random.pick(traders));
        callCounter.read();
      }
    }),
  );
  await disrupted;
  // By then the gateway has applied the last of the delayed orders.
  await delay(LATE_MS);
  const refusals = faults.refusals;
  sandbox.clearFaults();
  await Promise.all(facades.map((facade) => bring(facade, mayForget ? 'SIGTERM' : 'SIGKILL')));
  callCounter.read(true);

  const applied = appliedOf(sandbox);
  const stories: Story[] = [];
  for (const trader of traders) {
    for (const page of book.of(trader.account.login)) {
      const id = pageId(page.login, page.key);
      stories.push({
        page,
        applied: applied.get(id) ?? [],
        calls: callCounter.calls.get(id) ?? 0,
        final: await finalOf(trader, page),
        isRefused: trader.account.isRefused,
        mayForget,
      });
    }
  }
  callCounter.read(true);
  for (const trader of traders) trader.close();
  const known = new Set(stories.map(({ page }) => pageId(page.login, page.key)));
  const again = stories.reduce((sum, { calls }) => sum + Math.max(0, calls - 1), 0);
  return {
    contradictions: [
      ...stories.flatMap(contradictionsIn),
      ...[...applied.keys()]
        .filter((id) => !known.has(id))
        .map((id) => `${id}: nobody ordered this`),
      ...(again > refusals ? [`${again} keys sent again after ${refusals} refusals`] : []),
    ],
    stories,
    ...varietyOf(book.pages, applied),
  };
}

/** The gateway's orders, by the page that each was ordered on. */
function appliedOf(sandbox: Sandbox) {
  return Map.groupBy(sandbox.orders(), ({ login, comment }) => pageId(login, comment));
}

function varietyOf(pages: readonly Page[], applied: ReadonlyMap<string, unknown>): Variety {
  const unanswered = pages.filter(
    ({ login, key, exchanges }) =>
      applied.has(pageId(login, key)) &&
      exchanges.length > 0 &&
      exchanges.every(({ reply }) => reply.kind !== 'outcome'),
  );
  return { replies: countReplies(pages), unanswered: unanswered.length };
}

function createTrader(
  n: number,
  sandbox: Sandbox,
  facades: readonly FacadeProcess[],
  serving: ReadonlySet<FacadeProcess>,
) {
  const account = { login: 800_000 + n, email: `user-${n}@example.com`, isRefused: n % 4 === 0 };
  const tokens = Array.from({ length: DEVICES }, () => sandbox.token({ login: account.login }));
  const clients = new Map(
    facades.map((facade) => [facade, tokens.map((token) => new OrderClient(facade, token))]),
  );
  const all = [...clients.values()].flat();
  return {
    account,
    clients: () => {
      const alive = [...serving].flatMap((facade) => clients.get(facade) ?? []);
      // Where no facade serves at this moment, the client meets a closed port.
      return alive.length > 0 ? alive : all;
    },
    close: () => {
      for (const client of all) client.close();
    },
  };
}

/** The final reply about a key. A store that has just recovered may still refuse with an error that is worth a retry. */
async function finalOf(trader: Trader, { key }: Page): Promise<Reply> {
  const [client] = trader.clients();
  if (!client) return { kind: 'cut' };
  return eventually(async () => {
    const reply = await client.placed(key);
    if (reply.kind === 'cut' || (reply.kind === 'error' && !isForgotten(reply))) {
      throw new Error(`the records cannot be read: ${JSON.stringify(reply)}`);
    }
    return reply;
  });
}

/** A key that was closed while the store could not say what became of it stays so. */
function isForgotten({ code, isRetryable }: Extract<Reply, { kind: 'error' }>): boolean {
  return code === 'IDEMPOTENCY_UNAVAILABLE' && !isRetryable;
}

function countReplies(pages: readonly Page[]): ReplyCounts {
  const counts = new Map<string, number>();
  for (const { reply } of pages.flatMap(({ exchanges }) => exchanges)) {
    const name = nameOf(reply);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** What this server refused by itself goes by its reason. */
function nameOf(reply: Reply): string {
  if (reply.kind === 'error') return reply.code;
  if (reply.kind !== 'outcome') return reply.kind;
  return reply.sent === false ? `${reply.error}` : reply.type;
}

/** Counts the gateway's order calls by account and key. */
class OrderCallCounter {
  readonly calls = new Map<string, number>();
  readonly #sandbox: Sandbox;
  #read = 0;

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  /** Has to be called often: a request that the sandbox has dropped cannot be counted any more. */
  read(isLast = false): void {
    const unread = this.#sandbox.calls() - this.#read;
    if (unread < READ_AFTER && !isLast) return;
    if (unread > REMEMBERED) throw new Error('requests were forgotten before they were counted');
    this.#read += unread;
    for (const { operation, login, body } of this.#sandbox.requests().slice(-unread || Infinity)) {
      if (operation !== 'openPosition' && operation !== 'placeLimitOrder') continue;
      // The gateway never sees a key, so the comment carries it.
      const id = pageId(login, String(JSON.parse(body).comment));
      this.calls.set(id, (this.calls.get(id) ?? 0) + 1);
    }
  }
}
