import { setTimeout as delay } from 'node:timers/promises';
import { type Sandbox, startSandbox } from '../../src/sandbox/start.ts';
import { sseClient, webSocketClient } from '../live/watcher.ts';
import { type FaultProxy, type NetworkFault, startFaultProxy } from '../support/fault-proxy.ts';
import { ASKS, askFor } from './asks.ts';
import { startWeighedFacade, type WeighedFacade } from './weighed-facade.ts';

export interface SoakOptions {
  readonly forMs: number;
  /** Told of each round of storms, with what is held after it. */
  readonly onRound?: (round: number, heldBytes: number) => void;
}

export interface SoakResult {
  readonly beforeBytes: number;
  readonly afterBytes: number;
  /** How often each thing was said. */
  readonly said: ReadonlyMap<string, number>;
  readonly answers: number;
}

const STORM_MS = 1_000;
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
 * Storms of every kind, one after the other, over all operations and the live feeds of three
 * accounts. What is held is weighed after the first round, which fills what is filled once, and at
 * the end, each time when the weather has been calm for a while.
 */
export async function soak({ forMs, onRound }: SoakOptions): Promise<SoakResult> {
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
  const hear = (what: string) => {
    said.set(what, (said.get(what) ?? 0) + 1);
    answers += 1;
  };

  await runRound(world, tokens, hear);
  const beforeBytes = await weighed(world, tokens);
  onRound?.(0, beforeBytes);
  const endsAt = performance.now() + forMs;
  let afterBytes = beforeBytes;
  for (let round = 1; performance.now() < endsAt; round += 1) {
    await runRound(world, tokens, hear);
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
  hear: (what: string) => void,
): Promise<void> {
  const { sandbox, proxy } = world;
  for (const storm of STORMS) {
    // What the storms before have opened and placed is not to weigh.
    sandbox.reset();
    if (storm.kind === 'refuse') await proxy.refuse();
    else if (storm.kind !== 'calm') proxy.fail('*', storm);
    const leave = watch(world, tokens);
    await askAround(world, tokens, hear);
    leave();
    await proxy.heal();
  }
}

/** Sockets and event streams that come with a storm and leave with it. */
function watch({ facade, sandbox }: World, tokens: readonly string[]): () => void {
  const doors = { url: facade.url, webSocketUrl: `${facade.url.replace('http', 'ws')}/graphql` };
  const clients = tokens.flatMap((token) => [
    webSocketClient(doors, token, { retryAttempts: 100, retryWait: () => delay(100) }),
    sseClient(doors, token),
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
  hear: (what: string) => void,
): Promise<void> {
  const endsAt = performance.now() + STORM_MS;
  const asking = Array.from({ length: ASKING }, async (_, worker) => {
    for (let at = worker; performance.now() < endsAt; at += 1) {
      const ask = ASKS[at % ASKS.length];
      if (!ask) continue;
      // A record of each order is kept for a day, which is no leak: there are to be few of them.
      if (ask.field.startsWith('place') && at % 4 !== 0) continue;
      const { said } = await askFor(facade, ask, tokens[at % tokens.length] as string);
      hear(said);
      await delay(5);
    }
  });
  await Promise.all(asking);
}

/** When everything is served again and nobody watches any more. */
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
  const giveUpAt = performance.now() + 20_000;
  while (!(await calm())) {
    if (performance.now() > giveUpAt) throw new Error('it does not become calm again');
    await delay(100);
  }
  return facade.heldBytes();
}
