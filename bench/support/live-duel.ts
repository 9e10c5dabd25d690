import { setInterval } from 'node:timers';
import { setTimeout as delay } from 'node:timers/promises';
import { ACCOUNT_QUERY, QUERY, startLive } from './live-contestants.ts';
import { type CrowdFigures, LiveCrowd } from './live-crowd.ts';
import type { LiveGateway } from './live-gateway.ts';
import type { ProbedProcess } from './probed-process.ts';
import { geometricMean, median } from './statistics.ts';
import { stayAwake } from './stay-awake.ts';

export interface LivePace {
  readonly intervalMs: number;
  readonly warmCrowd: CrowdSize;
  /** The number of events each sends before anything is measured. */
  readonly warmEvents: number;
  /** Between the last socket's first event and the first window. */
  readonly settleMs: number;
  readonly windowMs: number;
  /** For each order in which the two crowds connect. */
  readonly windows: number;
}

export interface CrowdSize {
  readonly sockets: number;
  readonly accounts: number;
}

export interface WindowFigures extends CrowdFigures {
  readonly seconds: number;
  /** Microseconds of CPU in all. */
  readonly cpu: number;
  readonly holdMs: number;
}

/** The cost of one crowd for each of the two, window by window. */
export interface DuelFigures {
  readonly names: readonly string[];
  readonly eventBytes: number;
  readonly windows: readonly [ours: WindowFigures[], beside: WindowFigures[]];
  /** The median of each window's ratio, as the geometric mean over both orders. */
  readonly ratio: number;
}

/** A server, and what its subscribers ask for. */
interface Opponent {
  readonly name: string;
  readonly query?: string;
  /** Whether its sockets take packed messages. */
  readonly isPacked?: boolean;
  /** Whether it is the loop that sends the other's message to everybody. */
  readonly isBare?: boolean;
}

/** Ours and what it is measured beside: itself with other subscribers, or a bare loop. */
export const DUELS: Readonly<Record<string, readonly [Opponent, Opponent]>> = {
  loop: [{ name: 'ours' }, { name: 'bare loop', isBare: true }],
  account: [{ name: '`accountChanges`', query: ACCOUNT_QUERY }, { name: '`positionChanges`' }],
  packed: [{ name: 'packed', isPacked: true }, { name: 'plain' }],
};

const LONGEST_WARM_MS = 120_000;

/**
 * Two servers under the same crowd at the same time, on the same core: what else the machine does meets both alike. Each
 * process's CPU is its own.
 */
export class LiveDuel implements AsyncDisposable {
  readonly #gateway: LiveGateway;
  readonly #pace: LivePace;
  readonly #opponents: readonly [Opponent, Opponent];
  readonly #processes: ProbedProcess[] = [];
  #eventBytes = 0;

  constructor(gateway: LiveGateway, pace: LivePace, opponents: readonly [Opponent, Opponent]) {
    this.#gateway = gateway;
    this.#pace = pace;
    this.#opponents = opponents;
  }

  /** Node compiles what has run often: both send as many events before they are measured. */
  async start(): Promise<void> {
    let message = '';
    for (const { isBare } of this.#opponents) {
      const process = await startLive(this.#gateway, this.#pace, isBare ? message : null);
      this.#processes.push(process);
      message ||= await this.#sample(process);
    }
    this.#eventBytes = message.length;
    await this.#under(this.#pace.warmCrowd, [0, 1], async (crowds) => {
      for (const crowd of crowds) crowd.begin();
      const until = performance.now() + LONGEST_WARM_MS;
      const isCold = () => crowds.some((crowd) => crowd.figures().events < this.#pace.warmEvents);
      while (isCold() && performance.now() < until) await delay(100);
    });
  }

  async measure(size: CrowdSize): Promise<DuelFigures> {
    const windows: [WindowFigures[], WindowFigures[]] = [[], []];
    const ratios: number[] = [];
    // The events of the crowd that connects first cost up to a fifth more, whoever serves it.
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const taken = await this.#under(size, order, (crowds) => this.#windows(crowds));
      ratios.push(median(taken.map(([ours, beside]) => perEvent(ours) / perEvent(beside))));
      for (const pair of taken) pair.forEach((window, at) => void windows[at]?.push(window));
    }
    const names = this.#opponents.map(({ name }) => name);
    return { names, eventBytes: this.#eventBytes, windows, ratio: geometricMean(ratios) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.#processes) await process[Symbol.asyncDispose]();
  }

  async #windows(crowds: readonly LiveCrowd[]) {
    await delay(this.#pace.settleMs);
    const taken: (readonly [WindowFigures, WindowFigures])[] = [];
    for (let window = 0; window < this.#pace.windows; window += 1) {
      const [ours, beside] = await Promise.all(crowds.map((crowd, at) => this.#window(crowd, at)));
      if (ours && beside) taken.push([ours, beside]);
    }
    return taken;
  }

  async #under<T>(
    { sockets, accounts }: CrowdSize,
    order: readonly number[],
    act: (crowds: readonly LiveCrowd[]) => Promise<T>,
  ): Promise<T> {
    const crowds = this.#processes.map(
      ({ port }, at) => new LiveCrowd(port, this.#opponents[at]?.isPacked),
    );
    // Twice in an interval, so that each poll finds a change, whatever the market's own delays.
    const ticking = setInterval(() => void this.#gateway.tick(), this.#pace.intervalMs / 2);
    const rest = stayAwake();
    try {
      for (const at of order) {
        await crowds[at]?.connect(this.#gateway.tokens(accounts, sockets / accounts));
        await crowds[at]?.subscribe(this.#opponents[at]?.query ?? QUERY);
      }
      return await act(crowds);
    } finally {
      rest();
      clearInterval(ticking);
      for (const crowd of crowds) crowd.close();
    }
  }

  async #window(crowd: LiveCrowd, at: number): Promise<WindowFigures> {
    const process = this.#processes[at] as ProbedProcess;
    const beganAtMs = performance.now();
    const cpuBefore = await process.ask({ ask: 'cpu' });
    await process.ask({ ask: 'watch-holds' });
    crowd.begin();
    await delay(this.#pace.windowMs);
    const figures = crowd.figures();
    const cpu = (await process.ask({ ask: 'cpu' })) - cpuBefore;
    const seconds = (performance.now() - beganAtMs) / 1000;
    const holdMs = await process.ask({ ask: 'longest-hold' });
    return { ...figures, seconds, cpu, holdMs };
  }

  /** An event of the first of them, which the loop sends on. */
  async #sample({ port }: ProbedProcess): Promise<string> {
    const crowd = new LiveCrowd(port);
    await crowd.connect(this.#gateway.tokens(1, 1));
    await crowd.subscribe(this.#opponents[0].query ?? QUERY);
    const sample = crowd.sample();
    await this.#gateway.tick();
    const message = await sample;
    crowd.close();
    return message;
  }
}

export function perEvent({ cpu, events }: WindowFigures): number {
  return cpu / events;
}
