import type { Environment } from './environment.ts';

/** The `Date` of an answer has no milliseconds. */
const RESOLUTION_MS = 1_000;
const SLACK_MS = 2_000;
const MAX_DOUBT_MS = 5_000;
/** The wall clock is adjusted by less between two answers. */
const SLEPT_MS = 2_000;

/** The server's time, by the dates of its answers. */
export type ServerTime = Pick<ServerClock, 'now' | 'isBehind' | 'onDate' | 'onDead' | 'doubtMs'>;

/**
 * The server's clock, by the dates of its answers and by the uptime of this device, which no user can set. An answer was made
 * after its request had left and before it came, so that each gives bounds, and all together closer ones. A machine that
 * slept without its uptime is behind until the next answer.
 */
export class ServerClock {
  readonly #environment: Environment;
  /** The server's time less the uptime, at the least. */
  #earliest = Number.NaN;
  /** The time of the last answer, about; NaN while there is none. */
  roundTripMs: number = Number.NaN;
  /** The clock on the wall less the uptime, at the last date. */
  #offsetMs = Number.NaN;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  readonly onDate = (date: string, sentUp: number, cameUp: number): void => {
    const dateMs = Date.parse(date);
    const earliest = dateMs - cameUp;
    const latest = dateMs + RESOLUTION_MS - sentUp;
    // The highest of the lower bounds is the closest one; where it is none, the server's clock was set back.
    this.#earliest = this.#earliest <= latest ? Math.max(this.#earliest, earliest) : earliest;
    this.#offsetMs = this.#currentOffsetMs;
    const roundTripMs = cameUp - sentUp;
    // One answer that the gateway was slow for says little of the line.
    this.roundTripMs = Math.min(roundTripMs, 2 * (this.roundTripMs || roundTripMs));
  };

  /** The server's time at the earliest; null before the first dated answer. */
  now(): number | null {
    const now = Math.floor(this.#earliest + this.#environment.uptime());
    return Number.isNaN(now) ? null : now;
  }

  /** Whether this machine seems to have slept without its uptime since the last date: `now` is behind by as much then. */
  get isBehind(): boolean {
    return this.#currentOffsetMs - this.#offsetMs > SLEPT_MS;
  }

  get #currentOffsetMs(): number {
    return this.#environment.now() - this.#environment.uptime();
  }

  /**
   * A line that was found dead may be one that became slow: the next request is given twice the time, until an answer
   * tells how slow it is.
   */
  onDead(): void {
    this.roundTripMs = (2 * this.doubtMs - SLACK_MS) / 4;
  }

  /** The time after which a request that has no answer is doubted. */
  get doubtMs(): number {
    return Math.min(4 * this.roundTripMs + SLACK_MS || MAX_DOUBT_MS, MAX_DOUBT_MS);
  }
}
