import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.ts';
import { Contestant, type Question } from './contestant.ts';
import { HOME, POSITIONS, SEARCH } from './documents.ts';
import { QUERY } from './live-contestants.ts';
import { LiveCrowd } from './live-crowd.ts';
import type { LiveGateway } from './live-gateway.ts';
import { fire } from './load.ts';
import { type ReplicaField, startReplicaField } from './replica-field.ts';

export interface ReplicaPace {
  readonly warmMs: number;
  readonly sampleMs: number;
  readonly accounts: number;
  /** Of the live feeds; every account's list changes in each. */
  readonly intervalMs: number;
  readonly windowMs: number;
}

export const KINDS = ['home screen', 'search', 'positions', 'order'] as const;
export type Kind = (typeof KINDS)[number];

export interface ReplicaFigures {
  readonly count: number;
  /** Microseconds of CPU for one request, of all replicas together. */
  readonly requests: Readonly<Record<Kind, number>>;
  /** Microseconds of CPU for a poll of an account whose list has changed. */
  readonly poll: number;
  /** Microseconds of CPU for an event of a socket. */
  readonly event: number;
  /** Bytes, all resident: of a process that has just started, of the catalog, of a feed, of a socket with a subscription. */
  readonly memory: Readonly<Record<'base' | 'catalog' | 'feed' | 'socket', number>>;
}

const CONNECTIONS = 16;
const SOCKETS_PER_ACCOUNT = 5;
const ORDER = `mutation ($key: String!) {
  placeOrder(input: { symbol: "AAPL", side: BUY, size: { amount: 10 }, idempotencyKey: $key }) { __typename }
}`;

const QUESTIONS: Readonly<Record<Kind, () => Question>> = {
  'home screen': constant({ path: '', document: HOME, variables: {} }),
  search: constant({ path: '', document: SEARCH, variables: { term: 'corp' } }),
  positions: constant({ path: '', document: POSITIONS, variables: {} }),
  order: () => ({ path: '', document: ORDER, variables: { key: randomUUID() } }),
};

/** The cost of each unit of work for so many replicas side by side. */
export async function measureReplicas(
  count: number,
  gateway: LiveGateway,
  pace: ReplicaPace,
): Promise<ReplicaFigures> {
  const { accounts, intervalMs } = pace;
  await using field = await startReplicaField(count, gateway.url, {
    POSITIONS_POLL_MS: String(intervalMs),
  });
  const base = await field.memory();
  const tokens = await gateway.tokens(CONNECTIONS, 1);
  const process = field.processes[0];
  if (process === undefined) throw new Error('there is no replica');
  const client = new Contestant({
    ...{ name: 'replicas', speaks: 'graphql', port: field.port, process, tokens },
  });
  const search = await perRequest(field, client, QUESTIONS.search, pace);
  const catalog = (await field.memory()) - base;
  const home = await perRequest(field, client, QUESTIONS['home screen'], pace);
  const positions = await perRequest(field, client, QUESTIONS.positions, pace);
  const live = await liveFigures(field, gateway, pace);
  // Last: each adds a position to the lists.
  const order = await perRequest(field, client, QUESTIONS.order, pace);
  return {
    count,
    requests: { 'home screen': home, search, positions, order },
    poll: live.poll / accounts,
    event: live.event / accounts,
    memory: {
      base: base / count,
      catalog: catalog / count,
      feed: live.feedBytes / accounts,
      socket: live.socketBytes / accounts,
    },
  };
}

async function perRequest(
  field: ReplicaField,
  client: Contestant,
  next: () => Question,
  { warmMs, sampleMs }: ReplicaPace,
): Promise<number> {
  // It fails where the answer has an error, which the load would not notice; the first order may wait for Redis.
  await eventually(() => client.ask(next()));
  const load = (durationMs: number) =>
    fire({
      port: field.port,
      connections: CONNECTIONS,
      durationMs,
      next: (connection) => client.request(next(), 'identity', connection),
    });
  // Each process compiles its code by itself, on a share of the one core.
  await load(warmMs * field.processes.length);
  const before = await field.cpu();
  const { answered } = await load(sampleMs);
  return ((await field.cpu()) - before) / answered;
}

/**
 * One socket for each account, then five: the difference is the sockets', and what one socket costs more than that
 * is its account's.
 */
async function liveFigures(field: ReplicaField, gateway: LiveGateway, pace: ReplicaPace) {
  const { accounts, intervalMs, windowMs } = pace;
  const ticking = setInterval(() => void gateway.tick(), intervalMs);
  using _ticking = { [Symbol.dispose]: () => clearInterval(ticking) };
  const crowd = new LiveCrowd(field.port, { isRouted: true });
  using _crowd = { [Symbol.dispose]: () => crowd.close() };
  const tokens = await gateway.tokens(accounts, SOCKETS_PER_ACCOUNT);
  const join = async (some: readonly string[]) => {
    await crowd.connect(some);
    await crowd.subscribe(QUERY);
    await delay(2 * intervalMs);
    const memory = await field.memory();
    const before = await field.cpu();
    crowd.begin(intervalMs);
    await delay(windowMs);
    const cpu = (await field.cpu()) - before;
    // By what came: a busy machine has fewer events in the window.
    const rounds = crowd.figures().events / crowd.size;
    return { memory, cpu: cpu / rounds };
  };
  const start = await field.memory();
  const one = await join(tokens.slice(0, accounts));
  const all = await join(tokens.slice(accounts));
  const event = (all.cpu - one.cpu) / (SOCKETS_PER_ACCOUNT - 1);
  const socketBytes = (all.memory - one.memory) / (SOCKETS_PER_ACCOUNT - 1);
  return {
    event,
    poll: one.cpu - event,
    socketBytes,
    feedBytes: one.memory - start - socketBytes,
  };
}

function constant(question: Question): () => Question {
  return () => question;
}
