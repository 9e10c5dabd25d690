import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from '../../../sandbox/faults.ts';
import { type SandboxOptions, startSandbox } from '../../../sandbox/start.ts';
import {
  OPERATION_NAMES,
  OPERATIONS,
  type OperationName,
} from '../../../src/gateway/operations.ts';
import { OPERATION_CASES } from '../../operations/all.ts';
import { eventually } from '../../support/eventually.ts';
import { readinessOf } from '../../support/readiness.ts';
import { sseClient, webSocketClient } from '../live/watcher.ts';
import { EMAILS } from '../operations/accounts.ts';
import { seriesValue } from '../operations/scraped.ts';
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
  /** Counts the answers by operation and outcome. */
  readonly said: ReadonlyMap<string, number>;
  readonly answers: number;
  /** Lines of the log that say that the facade itself has failed. */
  readonly errorLines: readonly string[];
}

const STORM_MS = 1_000;
const MAX_ROUNDS = 1_000;

/** What a network does to every operation at once: a fault, or a port at which nothing listens. */
type Storm = Omit<Fault, 'operation'> | { readonly kind: 'refuse' };

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
const ASKING = 6;
/** Past its limits a small write is refused, and no breaker refuses it any more. */
const WELL = /^(data|Acknowledged|Rejected|LoginSuccess|Order(Accepted|Rejected)|RATE_LIMITED)$/;

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
  for (let round = 1; goesOn() && round <= MAX_ROUNDS; round += 1) {
    await runRound(world, tokens, record);
    afterBytes = await weighed(world, tokens);
    onRound?.(round, afterBytes);
  }
  const errorLines = facade.logged.filter((line) => /"level":"(error|fatal)"/.test(line));
  return { beforeBytes, afterBytes, said, answers, errorLines };
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
      const operation = OPERATION_NAMES[at % OPERATION_NAMES.length] as OperationName;
      // Order records are kept for a day, which is no leak, so only few are made.
      if (OPERATIONS[operation].effect === 'order' && at % 4 !== 0) continue;
      const token = tokens[at % tokens.length] as string;
      record(`${operation}: ${await askFor(facade, operation, token)}`);
      await delay(5);
    }
  });
  await Promise.all(asking);
}

/** Waits until each operation is served again, by itself, and no subscription is left. */
async function weighed({ facade }: World, tokens: readonly string[]): Promise<number> {
  const calm = async () => {
    for (const operation of OPERATION_NAMES) {
      if (!WELL.test(await askFor(facade, operation, tokens[1] as string))) return false;
    }
    const { status } = await readinessOf(facade.adminUrl);
    return status === 'ok' && (await seriesValue(facade, 'subscriptions{list="positions"}')) === 0;
  };
  await eventually(calm);
  return (await facade.weigh()).heldBytes;
}

let asked = 0;

/** Returns the error code, else the type of the answer, or `data`. */
async function askFor(
  { query }: WeighedFacade,
  operation: OperationName,
  token: string,
): Promise<string> {
  asked += 1;
  const { document, field } = OPERATION_CASES[operation];
  const { status, data, errors } = await query(document, {
    token,
    variables: { key: `key ${asked}` },
  });
  const [error, ...others] = errors;
  const value = data?.[field] ?? null;
  // An answer with both an error and data for one field contradicts itself.
  if (status !== 200 || others.length > 0 || (error === undefined) === (value === null)) {
    return `status ${status}, ${JSON.stringify({ data, errors })}`;
  }
  return error?.extensions.code ?? value.__typename ?? 'data';
}

/** A gateway behind a network that fails. After a storm that refused connections it begins anew, with the same tokens. */
async function startStormyGateway(options: SandboxOptions) {
  let sandbox = await startSandbox({ ...options, tickMs: 0 });
  let isAway = false;
  const { url, port } = sandbox;
  return {
    url,
    get sandbox() {
      return sandbox;
    },
    async begin(storm: Storm): Promise<void> {
      isAway = storm.kind === 'refuse';
      if (storm.kind === 'refuse') await sandbox.close();
      else sandbox.fail({ ...storm, operation: '*' });
    },
    async end(): Promise<void> {
      sandbox.clearFaults();
      if (isAway) sandbox = await startSandbox({ ...options, tickMs: 0, port });
      isAway = false;
    },
    [Symbol.asyncDispose]: () => sandbox.close(),
  };
}
