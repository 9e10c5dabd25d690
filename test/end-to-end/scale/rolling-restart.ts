import { setTimeout as delay } from 'node:timers/promises';
import { type Sandbox, startSandbox } from '../../../sandbox/start.ts';
import { eventually } from '../../support/eventually.ts';
import type { FacadeProcess } from '../../support/facade-process.ts';
import { type Replicas, startReplicas } from '../../support/replicas.ts';
import { Crowd } from './crowd.ts';
import { startRequestLoad } from './request-load.ts';

export interface RollingOptions {
  readonly haproxyPath: string;
  readonly accounts: number;
  readonly socketsPerAccount: number;
  readonly pollMs: number;
  readonly requestsPerSecond: number;
  /** How long sockets of a replica take to close, each time. */
  readonly delayMs: number;
  /** How long the load goes on before the first restart and after the last one. */
  readonly aroundMs: number;
  readonly onStep?: (text: string) => void;
}

const TICK_MS = 500;
const SAMPLE_MS = 500;
/**
 * A rolling restart of three processes behind haproxy, under sockets and requests: counts failed requests, lists that differ from
 * the gateway's, stretched feeds and polls.
 */
export async function rollingRestart(options: RollingOptions) {
  const { accounts, socketsPerAccount, pollMs, requestsPerSecond, delayMs, aroundMs } = options;
  const onStep = options.onStep ?? (() => {});
  await using sandbox = await startSandbox({ seed: 'rolling', instruments: 100, tickMs: 0 });
  using ticking = setInterval(() => sandbox.tick(), TICK_MS);
  await using replicas = await startReplicas(options.haproxyPath, {
    NODE_ENV: 'production',
    GATEWAY_URL: sandbox.url,
    ORDER_STORE: 'memory',
    // The line that says where it serves has to come.
    LOG_SAMPLE: '0',
    RATE_LIMIT_PER_MINUTE: '1000000',
    POSITIONS_POLL_MS: String(pollMs),
    SHUTDOWN_DELAY_MS: String(delayMs),
  });
  const url = `${replicas.url}/graphql`;
  using crowd = await Crowd.open({ url, sandbox, accounts, socketsPerAccount });
  onStep(`${crowd.viewers.length} sockets: ${await replicas.sockets()}`);
  const emails = [...new Set(crowd.viewers.map(({ email }) => email))];
  const tokens = emails.map((email) => sandbox.token({ email }));
  const before = countOf(await listsOf(sandbox, tokens));

  const load = startRequestLoad(replicas.url, tokens, requestsPerSecond);
  const watch = startWatch(sandbox, replicas, crowd, pollMs);
  await delay(aroundMs);
  const startedAtMs = performance.now();
  for (const replica of replicas.all) {
    await restart(replica, replicas);
    onStep(
      `restarted, sockets: ${await replicas.sockets()}; ${load.counts.failures.length} failures`,
    );
  }
  const restartSeconds = (performance.now() - startedAtMs) / 1_000;
  await crowd.allLive();
  await delay(aroundMs);
  await load.end();
  const { polls, stretch, oldestListMs } = await watch.end();

  clearInterval(ticking);
  const lists = await listsOf(sandbox, tokens);
  const expected = new Map(emails.map((email, at) => [email, textOf(lists[at])]));
  const differing = () =>
    crowd.viewers.filter(
      ({ email, state }) => textOf(state?.positions ?? undefined) !== expected.get(email),
    );
  // The last change of the market reaches a list with the account's next poll.
  await eventually(() => differing().length === 0, { withinMs: 4 * pollMs }).catch(() => {});
  return {
    requests: load.counts.sent,
    skipped: load.counts.skipped,
    repeated: load.counts.repeated,
    failures: load.counts.failures,
    sockets: crowd.viewers.length,
    /** Sockets whose list, once the market stands still, is not the gateway's. */
    gaps: differing().length,
    /** Positions that closed meanwhile, each opened before: where there is none the lists prove little. */
    closed: before + sandbox.orders().length - countOf(lists),
    stretch,
    oldestListMs,
    polls,
    restartSeconds,
    pollsPerAccount: polls.reduce((sum, each) => sum + each, 0) / polls.length / accounts,
  };
}

/** As an operator would: SIGTERM, its end, its start, and the next one when the load balancer sends it requests again. */
async function restart(replica: FacadeProcess, replicas: Replicas): Promise<void> {
  replica.signal('SIGTERM');
  const code = await replica.ended();
  if (code !== 0) throw new Error(`a replica left with ${code}`);
  await replica.start();
  await eventually(async () => {
    // Without a hint it goes anywhere, so that each replica answers some.
    await fetch(`${replicas.url}/health/live`);
    const metrics = await (await fetch(`${replica.adminUrl}/metrics`)).text();
    return /^trading_graph_operations_total\{[^\n]*\} [1-9]/m.test(metrics);
  });
}

/** Samples while it runs: polls by interval, how stretched feeds are, how old the oldest list is. */
function startWatch(sandbox: Sandbox, replicas: Replicas, crowd: Crowd, pollMs: number) {
  const seen = {
    /** In the time of one interval, by sample. */
    polls: [] as number[],
    /** The largest factor by which a process lengthened its poll intervals; 1 where it did not. */
    stretch: 1,
    oldestListMs: 0,
  };
  let isOn = true;
  const running = watch();

  async function watch(): Promise<void> {
    let from = sandbox.calls('getOpenPositions');
    let sinceMs = performance.now();
    while (isOn) {
      const nowMs = performance.now();
      if (nowMs >= sinceMs + pollMs) {
        const until = sandbox.calls('getOpenPositions');
        // A busy machine looks late.
        seen.polls.push(Math.round(((until - from) * pollMs) / (nowMs - sinceMs)));
        from = until;
        sinceMs = nowMs;
      }
      const ages = crowd.viewers.map(({ state }) => Date.now() - (state?.asOf?.getTime() ?? 0));
      seen.oldestListMs = Math.max(seen.oldestListMs, ...ages);
      const factors = await replicas.gauges('feed_poll_stretch{list="positions"}');
      seen.stretch = Math.max(seen.stretch, ...factors);
      await delay(SAMPLE_MS);
    }
  }

  return {
    async end() {
      isOn = false;
      await running;
      return seen;
    },
  };
}

interface Row {
  readonly id: string;
  readonly profit: number | null;
}

function textOf(rows: readonly Row[] = []): string {
  return JSON.stringify(rows.map(({ id, profit }) => [id, profit]).sort());
}

function countOf(lists: readonly (readonly Row[])[]): number {
  return lists.reduce((sum, rows) => sum + rows.length, 0);
}

/** Each account's positions at the gateway. */
async function listsOf(sandbox: Sandbox, tokens: readonly string[]): Promise<readonly Row[][]> {
  const lists: Row[][] = [];
  for (const token of tokens) {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${sandbox.url}/trading/positions`, { headers });
    const { positions } = (await response.json()) as {
      positions: readonly { id: string | number; profit: number }[];
    };
    lists.push(positions.map(({ id, profit }) => ({ id: String(id), profit })));
  }
  return lists;
}
