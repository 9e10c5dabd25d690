import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { sseClient, webSocketClient } from '../live/watcher.ts';
import { seriesValue } from '../operations/scraped.ts';
import { ASKS, askFor } from './asks.ts';
import { type Storm, startStormyGateway } from './stormy-gateway.ts';
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

/** Null: a calm. */
const STORMS: readonly (Storm | null)[] = [
  null,
  { kind: 'delay', delayMs: 3_000 },
  { kind: 'cut' },
  { kind: 'drip', delayMs: 20 },
  null,
  { kind: 'reset-before' },
  { kind: 'reset-after' },
  { kind: 'hang' },
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
  await using gateway = await startStormyGateway({ seed: 'soak', instruments: 200 });
  await using facade = await startWeighedFacade({
    GATEWAY_URL: gateway.url,
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
  const world = { gateway, facade };
  const tokens = EMAILS.map((email) => gateway.sandbox.token({ email }));
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
  readonly gateway: Awaited<ReturnType<typeof startStormyGateway>>;
  readonly facade: WeighedFacade;
}

async function runRound(
  world: World,
  tokens: readonly string[],
  record: (what: string) => void,
): Promise<void> {
  const { gateway } = world;
  for (const storm of STORMS) {
    // Positions and orders of the storms before must not be measured.
    gateway.sandbox.reset();
    if (storm !== null) await gateway.begin(storm);
    const leave = watch(world, tokens);
    await askAround(world, tokens, record);
    leave();
    if (storm !== null) await gateway.end();
  }
}

/** Opens sockets and event streams for the time of one storm. */
function watch({ facade, gateway }: World, tokens: readonly string[]): () => void {
  const clients = tokens.flatMap((token) => [
    webSocketClient(facade, token, { retryAttempts: 100, retryWait: () => delay(100) }),
    sseClient(facade, token),
  ]);
  for (const client of clients) client.watch();
  const ticking = setInterval(() => gateway.sandbox.tick(), 200);
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
    return (await seriesValue(facade, 'subscriptions')) === 0;
  };
  await eventually(calm);
  return (await facade.weigh()).heldBytes;
}
