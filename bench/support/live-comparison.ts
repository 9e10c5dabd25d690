import { setTimeout as delay } from 'node:timers/promises';
import { type ClientFigures, LiveClients } from './live-clients.ts';
import type { LiveGateway } from './live-gateway.ts';
import { ACCOUNT_QUERY, QUERY, startLive } from './live-subjects.ts';
import type { ProbedProcess } from './probed-process.ts';
import { median } from './statistics.ts';
import { stayAwake } from './stay-awake.ts';

export interface LivePace {
  readonly intervalMs: number;
  readonly warmClients: ClientCount;
  /** The number of events each sends before anything is measured. */
  readonly warmEvents: number;
  /** Between the last socket's first event and the first window. */
  readonly settleMs: number;
  readonly windowMs: number;
  /** For each order in which the two groups connect. */
  readonly windows: number;
}

export interface ClientCount {
  readonly sockets: number;
  readonly accounts: number;
}

export interface WindowFigures extends ClientFigures {
  readonly seconds: number;
  /** Microseconds of CPU in all. */
  readonly cpu: number;
  readonly holdMs: number;
}

export type ComparisonFigures = Awaited<
  ReturnType<Awaited<ReturnType<typeof openComparison>>['measure']>
>;

/** A server, and what its subscribers ask for. */
interface Opponent {
  readonly name: string;
  readonly query?: string;
  /** Whether it is the loop that sends the other's message to everybody. */
  readonly isBare?: boolean;
}

/** Ours and what it is measured beside: itself with other subscribers, or a bare loop. */
export const COMPARISONS: Readonly<Record<string, readonly [Opponent, Opponent]>> = {
  loop: [{ name: 'ours' }, { name: 'bare loop', isBare: true }],
  account: [{ name: '`accountChanges`', query: ACCOUNT_QUERY }, { name: '`positionChanges`' }],
};

const MAX_WARM_MS = 120_000;

/**
 * Two servers under the same clients at the same time, on the same core: what else the machine does meets both alike. Each
 * process's CPU is its own. Node compiles what has run often: both send as many events before they are measured.
 */
export async function openComparison(
  gateway: LiveGateway,
  pace: LivePace,
  opponents: readonly [Opponent, Opponent],
) {
  await using opened = new AsyncDisposableStack();
  const processes: ProbedProcess[] = [];
  let message = '';
  for (const { isBare, query } of opponents) {
    const sent = isBare ? message : null;
    const process = opened.use(await startLive(gateway, pace.intervalMs, sent));
    processes.push(process);
    message ||= await sampleOf(process, query);
  }
  await under(pace.warmClients, [0, 1], async (groups) => {
    for (const clients of groups) clients.begin();
    const until = performance.now() + MAX_WARM_MS;
    const isCold = () => groups.some((clients) => clients.figures().events < pace.warmEvents);
    while (isCold() && performance.now() < until) await delay(100);
  });

  /** The cost of one clients for each of the two, window by window. */
  async function measure(size: ClientCount) {
    const windows: [WindowFigures[], WindowFigures[]] = [[], []];
    const ratios: number[] = [];
    // The events of the clients that connects first cost up to a fifth more, whoever serves it.
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const taken = await under(size, order, windowsOf);
      ratios.push(median(taken.map(([ours, beside]) => perEvent(ours) / perEvent(beside))));
      for (const pair of taken) pair.forEach((window, at) => void windows[at]?.push(window));
    }
    // The median of each window's ratio, as the geometric mean over both orders.
    const ratio = Math.sqrt(ratios.reduce((one, other) => one * other));
    return { eventBytes: message.length, windows, ratio };
  }

  async function windowsOf(groups: readonly LiveClients[]) {
    await delay(pace.settleMs);
    const taken: (readonly [WindowFigures, WindowFigures])[] = [];
    for (let window = 0; window < pace.windows; window += 1) {
      const [ours, beside] = await Promise.all(groups.map(windowOf));
      if (ours && beside) taken.push([ours, beside]);
    }
    return taken;
  }

  async function under<T>(
    { sockets, accounts }: ClientCount,
    order: readonly number[],
    act: (groups: readonly LiveClients[]) => Promise<T>,
  ): Promise<T> {
    const groups = processes.map(({ port }) => new LiveClients(port));
    // Twice in an interval, so that each poll finds a change, whatever the market's own delays.
    using _ticking = setInterval(() => void gateway.tick(), pace.intervalMs / 2);
    using _awake = stayAwake();
    try {
      for (const at of order) {
        await groups[at]?.connect(gateway.tokens(accounts, sockets / accounts));
        await groups[at]?.subscribe(opponents[at]?.query ?? QUERY);
      }
      return await act(groups);
    } finally {
      for (const clients of groups) clients.close();
    }
  }

  async function windowOf(clients: LiveClients, at: number): Promise<WindowFigures> {
    const process = processes[at] as ProbedProcess;
    const beganAtMs = performance.now();
    const cpuBefore = await process.ask({ ask: 'cpu' });
    await process.ask({ ask: 'watch-holds' });
    clients.begin();
    await delay(pace.windowMs);
    const figures = clients.figures();
    const cpu = (await process.ask({ ask: 'cpu' })) - cpuBefore;
    const seconds = (performance.now() - beganAtMs) / 1000;
    const holdMs = await process.ask({ ask: 'longest-hold' });
    return { ...figures, seconds, cpu, holdMs };
  }

  /** An event, which the loop sends on. */
  async function sampleOf({ port }: ProbedProcess, query = QUERY): Promise<string> {
    const clients = new LiveClients(port);
    await clients.connect(gateway.tokens(1, 1));
    await clients.subscribe(query);
    const sample = clients.sample();
    await gateway.tick();
    const event = await sample;
    clients.close();
    return event;
  }

  const resources = opened.move();
  return { measure, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

export function perEvent({ cpu, events }: WindowFigures): number {
  return cpu / events;
}
