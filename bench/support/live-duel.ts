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
  readonly size: CrowdSize;
  readonly names: readonly string[];
  readonly eventBytes: number;
  readonly ours: readonly WindowFigures[];
  readonly beside: readonly WindowFigures[];
  /** The polls of our contestant. */
  readonly pollsPerSecond: number;
  /** The median of each window's ratio, as the geometric mean over both orders. */
  readonly ratio: number;
}

/** A running server, and what its subscribers ask for. */
interface Opponent {
  readonly name: string;
  readonly process: ProbedProcess;
  readonly query: string;
  /** Whether its sockets take packed messages. */
  readonly isPacked: boolean;
}

const LONGEST_WARM_MS = 120_000;
const LEAVING_MS = 500;

/** The events of the crowd that connects first cost up to a fifth more, whoever serves it. */
const ORDERS = ['ours first', 'beside first'] as const;
type Order = (typeof ORDERS)[number];

/**
 * This project and another server under the same crowd at the same time, on the same core: what else
 * the machine does meets both alike. Each process's CPU is its own.
 */
export class LiveDuel implements AsyncDisposable {
  readonly #gateway: LiveGateway;
  readonly #pace: LivePace;
  readonly #ours: Opponent;
  readonly #beside: Opponent;
  readonly #eventBytes: number;

  private constructor(
    gateway: LiveGateway,
    pace: LivePace,
    opponents: readonly [Opponent, Opponent],
    eventBytes: number,
  ) {
    this.#gateway = gateway;
    this.#pace = pace;
    [this.#ours, this.#beside] = opponents;
    this.#eventBytes = eventBytes;
  }

  /** Beside the bare loop. */
  static async start(gateway: LiveGateway, pace: LivePace): Promise<LiveDuel> {
    const ours = await opponent('ours', gateway, pace);
    const message = await sampleOf(ours, gateway);
    const process = await startLive(gateway, pace, message);
    const beside = { ...ours, name: 'bare loop', process };
    return new LiveDuel(gateway, pace, [ours, beside], message.length);
  }

  /** To sockets that take packed messages, beside itself and sockets that do not. */
  static async startPacked(gateway: LiveGateway, pace: LivePace): Promise<LiveDuel> {
    const ours = await opponent('packed', gateway, pace, { isPacked: true });
    const beside = await opponent('plain', gateway, pace);
    const { length } = await sampleOf(beside, gateway);
    return new LiveDuel(gateway, pace, [ours, beside], length);
  }

  /** To followers of the whole account, beside itself and followers of the positions. */
  static async startAccount(gateway: LiveGateway, pace: LivePace): Promise<LiveDuel> {
    const ours = await opponent('`accountChanges`', gateway, pace, { query: ACCOUNT_QUERY });
    const beside = await opponent('`positionChanges`', gateway, pace);
    const { length } = await sampleOf(ours, gateway);
    return new LiveDuel(gateway, pace, [ours, beside], length);
  }

  /** Node compiles what has run often: both send as many events before they are measured. */
  async warm(): Promise<void> {
    await this.#under(this.#pace.warmCrowd, 'ours first', async (crowds) => {
      for (const crowd of crowds) crowd.begin(this.#pace.intervalMs);
      const until = performance.now() + LONGEST_WARM_MS;
      const isCold = () => crowds.some((crowd) => crowd.figures().events < this.#pace.warmEvents);
      while (isCold() && performance.now() < until) await delay(100);
    });
  }

  async measure(size: CrowdSize): Promise<DuelFigures> {
    const ours: WindowFigures[] = [];
    const beside: WindowFigures[] = [];
    const ratios: number[] = [];
    let pollsPerSecond = 0;
    for (const order of ORDERS) {
      const figures = await this.#windowsOf(size, order);
      ours.push(...figures.ours);
      beside.push(...figures.beside);
      ratios.push(figures.ratio);
      pollsPerSecond = figures.pollsPerSecond;
    }
    const names = [this.#ours.name, this.#beside.name];
    const ratio = geometricMean(ratios);
    return { size, names, eventBytes: this.#eventBytes, ours, beside, pollsPerSecond, ratio };
  }

  #windowsOf(
    size: CrowdSize,
    order: Order,
  ): Promise<Pick<DuelFigures, 'ours' | 'beside' | 'pollsPerSecond' | 'ratio'>> {
    const { settleMs, windows } = this.#pace;
    return this.#under(size, order, async ([ourCrowd, otherCrowd]) => {
      await delay(settleMs);
      const ours: WindowFigures[] = [];
      const beside: WindowFigures[] = [];
      const ratios: number[] = [];
      for (let window = 0; window < windows; window += 1) {
        const [of, other] = await Promise.all([
          this.#window(this.#ours, ourCrowd),
          this.#window(this.#beside, otherCrowd),
        ]);
        ours.push(of);
        beside.push(other);
        ratios.push(perEvent(of) / perEvent(other));
      }
      const pollsPerSecond = await this.#pollsOfOurs(otherCrowd);
      return { ours, beside, pollsPerSecond, ratio: median(ratios) };
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { process } of [this.#ours, this.#beside]) await process[Symbol.asyncDispose]();
  }

  async #under<T>(
    { sockets, accounts }: CrowdSize,
    order: Order,
    act: (crowds: readonly [LiveCrowd, LiveCrowd]) => Promise<T>,
  ): Promise<T> {
    const crowds = [crowdOf(this.#ours), crowdOf(this.#beside)] as const;
    // Twice in an interval, so that each poll finds a change, whatever the market's own delays.
    const ticking = setInterval(() => void this.#gateway.tick(), this.#pace.intervalMs / 2);
    const rest = stayAwake();
    try {
      for (const crowd of order === 'ours first' ? crowds : crowds.toReversed()) {
        await crowd.connect(this.#gateway.tokens(accounts, sockets / accounts));
        await crowd.subscribe((crowd === crowds[0] ? this.#ours : this.#beside).query);
      }
      return await act(crowds);
    } finally {
      rest();
      clearInterval(ticking);
      for (const crowd of crowds) crowd.close();
    }
  }

  /** The gateway counts calls, whoever makes them, so the other contestant's sockets are closed. */
  async #pollsOfOurs(other: LiveCrowd): Promise<number> {
    other.close();
    await delay(LEAVING_MS);
    const polls = async () => (await this.#gateway.calls()).getOpenPositions ?? 0;
    const before = await polls();
    const beganAtMs = performance.now();
    await delay(this.#pace.windowMs);
    return (((await polls()) - before) * 1000) / (performance.now() - beganAtMs);
  }

  async #window({ process }: Opponent, crowd: LiveCrowd): Promise<WindowFigures> {
    const { intervalMs, windowMs } = this.#pace;
    const beganAtMs = performance.now();
    const cpuBefore = await process.ask({ ask: 'cpu' });
    await process.ask({ ask: 'watch-holds' });
    crowd.begin(intervalMs);
    await delay(windowMs);
    const figures = crowd.figures();
    const cpu = (await process.ask({ ask: 'cpu' })) - cpuBefore;
    const seconds = (performance.now() - beganAtMs) / 1000;
    const holdMs = await process.ask({ ask: 'longest-hold' });
    return { ...figures, seconds, cpu, holdMs };
  }
}

async function opponent(
  name: string,
  gateway: LiveGateway,
  { intervalMs }: LivePace,
  { query = QUERY, isPacked = false }: Partial<Opponent> = {},
): Promise<Opponent> {
  return { name, process: await startLive(gateway, { intervalMs }), query, isPacked };
}

function crowdOf({ process, isPacked }: Opponent): LiveCrowd {
  return new LiveCrowd(process.port, { isPacked });
}

async function sampleOf(opponent: Opponent, gateway: LiveGateway): Promise<string> {
  const crowd = crowdOf(opponent);
  await crowd.connect(gateway.tokens(1, 1));
  await crowd.subscribe(opponent.query);
  const sample = crowd.sample();
  await gateway.tick();
  const message = await sample;
  crowd.close();
  return message;
}

export function perEvent({ cpu, events }: WindowFigures): number {
  return cpu / events;
}
