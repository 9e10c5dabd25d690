import { setTimeout as delay } from 'node:timers/promises';
import { type Sandbox, startSandbox } from '../../../sandbox/start.ts';
import { eventually } from '../../support/eventually.ts';
import { type FaultProxy, type NetworkFault, startFaultProxy } from '../../support/fault-proxy.ts';
import { sseClient, webSocketClient } from '../live/watcher.ts';
import { ASKS, askFor } from './asks.ts';
import { startWeighedFacade, type WeighedFacade } from './weighed-facade.ts';

export interface SoakOptions {
  readonly forMs: number;
  /** It goes on until it has so many answers. */
  readonly leastAnswers?: number;
  /** Called after each round of storms with the heap's size. */
  readonly onRound?: (round: number, heldBytes: number) => void;
}

export interface SoakResult {
  readonly beforeBytes: number;
  readonly afterBytes: number;
  /** Counts the answers by outcome. */
  readonly said: ReadonlyMap<string, number>;
  readonly answers: number;
}

const STORM_MS = 1_000;
const MOST_ROUNDS = 1_000;
type Storm = NetworkFault | { readonly kind: 'refuse' } | { readonly kind: 'calm' };

const STORMS: readonly Storm[] = [
  { kind: 'calm' },
  { kind: 'latency', ms: 3_000 },
  { kind: 'cut' },
  { kind: 'drip', everyMs: 20 },
  { kind: 'calm' },
  { kind: 'reset-before' },
  { kind: 'reset-after' },
  { kind: 'half-open' },
  { kind: 'refuse' },
];
const EMAILS = ['demo@example.com', 'pro@example.com', 'fresh@example.com'];
const ASKING = 6;

/**
 * Runs storms of every kind, one after the other, over all operations and the live feeds of three
 * accounts. The heap is measured after the first round, which fills the caches, and at the end, each
 * time when everything has been idle for a while.
 */
export async function soak({ forMs, leastAnswers = 0, onRound }: SoakOptions): Promise<SoakResult> {
  await using sandbox = await startSandbox({ seed: 'soak', instruments: 200, tickMs: 0 });
  await using proxy = await startFaultProxy(sandbox.url);
  await using facade = await startWeighedFacade({
    GATEWAY_URL: proxy.url,
    NODE_ENV: 'production',
    LOG_LEVEL: 'info',
    GATEWAY_TIMEOUT_MS: '600',
    CATALOG_TIMEOUT_MS: '600',
    ORDER_TIMEOUT_MS: '900',
    POSITIONS_POLL_MS: '100',
    POSITIONS_POLL_MAX_MS: '500',
    RATE_LIMIT_PER_MINUTE: '1000000',
    LOGIN_LIMIT_PER_MINUTE: '1000000',
  });
  const world = { sandbox, proxy, facade };
  const tokens = EMAILS.map((email) => sandbox.token({ email }));
  const said = new Map<string, number>();
  let answers = 0;
  const record = (what: string) => {
    said.set(what, (said.get(what) ?? 0) + 1);
    answers += 1;
  };

  await runRound(world, tokens, record);
  const beforeBytes = await weighed(world, tokens);
  onRound?.(0, beforeBytes);
  const endsAt = performance.now() + forMs;
  let afterBytes = beforeBytes;
  const goesOn = () => performance.now() < endsAt || answers < leastAnswers;
  for (let round = 1; goesOn() && round <= MOST_ROUNDS; round += 1) {
    await runRound(world, tokens, record);
    afterBytes = await weighed(world, tokens);
    onRound?.(round, afterBytes);
  }
  return { beforeBytes, afterBytes, said, answers };
}

interface World {
  readonly sandbox: Sandbox;
  readonly proxy: FaultProxy;
  readonly facade: WeighedFacade;
}

async function runRound(
  world: World,
  tokens: readonly string[],
  record: (what: string) => void,
): Promise<void> {
  const { sandbox, proxy } = world;
  for (const storm of STORMS) {
    // Positions and orders of the storms before must not be measured.
    sandbox.reset();
    if (storm.kind === 'refuse') await proxy.refuse();
    else if (storm.kind !== 'calm') proxy.fail('*', storm);
    const leave = watch(world, tokens);
    await askAround(world, tokens, record);
    leave();
    await proxy.heal();
  }
}

/** Opens sockets and event streams for the time of one storm. */
function watch({ facade, sandbox }: World, tokens: readonly string[]): () => void {
  const addresses = {
    url: facade.url,
    webSocketUrl: `${facade.url.replace('http', 'ws')}/graphql`,
  };
  const clients = tokens.flatMap((token) => [
    webSocketClient(addresses, token, { retryAttempts: 100, retryWait: () => delay(100) }),
    sseClient(addresses, token),
  ]);
  for (const client of clients) client.watch();
  const ticking = setInterval(() => sandbox.tick(), 200);
  return () => {
    clearInterval(ticking);
    for (const client of clients) client.dispose();
  };
}

async function askAround(
  { facade }: World,
  tokens: readonly string[],
  record: (what: string) => void,
): Promise<void> {
  const endsAt = performance.now() + STORM_MS;
  const asking = Array.from({ length: ASKING }, async (_, worker) => {
    for (let at = worker; performance.now() < endsAt; at += 1) {
      const ask = ASKS[at % ASKS.length];
      if (!ask) continue;
      // Order records are kept for a day, which is no leak, so only few are made.
      if (ask.field.startsWith('place') && at % 4 !== 0) continue;
      record(await askFor(facade, ask, tokens[at % tokens.length] as string));
      await delay(5);
    }
  });
  await Promise.all(asking);
}

/** Waits until everything is served again and no subscription is left. */
async function weighed({ facade }: World, tokens: readonly string[]): Promise<number> {
  const calm = async () => {
    for (const token of tokens) {
      const { errors } = await facade.query(
        '{ session(maxAge: 0) { login } catalog { size } customerId }',
        { token },
      );
      if (errors.length > 0) return false;
    }
    const figures = await (await fetch(`${facade.adminUrl}/metrics`)).text();
    return /^trading_graph_subscriptions 0$/m.test(figures);
  };
  await eventually(calm);
  return facade.heldBytes();
}
