import type { Environment } from './environment.ts';

/** The `Date` of an answer has no milliseconds. */
const RESOLUTION_MS = 1_000;
/** After this many round trips and the slack, a request without an answer is in doubt. */
const DOUBT_ROUND_TRIPS = 4;
const SLACK_MS = 2_000;
const MAX_DOUBT_MS = 5_000;
/** A wall clock that jumps further between two answers shows that the device has slept. */
const SLEPT_MS = 2_000;

/** The server's time, by the dates of its answers. */
export type ServerTime = Pick<ServerClock, 'now' | 'isBehind' | 'onDate' | 'onDead' | 'doubtMs'>;

/**
 * The server's clock, by the dates of its answers and by the uptime of this device, which no user can set. The server made
 * an answer after its request had left, and before the answer arrived. So each answer gives two bounds, and all answers
 * together give closer bounds. After a sleep that the uptime does not count, the clock is too early until the next answer.
 */
export class ServerClock {
  readonly #environment: Environment;
  /** The least difference between the server's time and the uptime. */
  #earliest = Number.NaN;
  /** The approximate round trip of the last answer; NaN before the first. */
  roundTripMs: number = Number.NaN;
  /** The difference between the wall clock and the uptime, at the last date. */
  #offsetMs = Number.NaN;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  readonly onDate = (date: string, sentUp: number, arrivedUp: number): void => {
    const dateMs = Date.parse(date);
    const earliest = dateMs - arrivedUp;
    const latest = dateMs + RESOLUTION_MS - sentUp;
    // The highest lower bound is the closest one. If that bound exceeds an upper one, the server's clock was set back.
    this.#earliest = this.#earliest <= latest ? Math.max(this.#earliest, earliest) : earliest;
    this.#offsetMs = this.#currentOffsetMs;
    const roundTripMs = arrivedUp - sentUp;
    // One answer of a slow gateway says little about the connection, so the value at most doubles.
    this.roundTripMs = Math.min(roundTripMs, 2 * (this.roundTripMs || roundTripMs));
  };

  /** The server's time at the earliest; null before the first dated answer. */
  now(): number | null {
    const now = Math.floor(this.#earliest + this.#environment.uptime());
    return Number.isNaN(now) ? null : now;
  }

  /** Whether this machine seems to have slept since the last date. If the uptime has not counted that, `now` is early. */
  get isBehind(): boolean {
    return this.#currentOffsetMs - this.#offsetMs > SLEPT_MS;
  }

  get #currentOffsetMs(): number {
    return this.#environment.now() - this.#environment.uptime();
  }

  /**
   * A connection that was found dead may only have become slow. So the next request is in doubt after twice the time, until
   * an answer shows the round trip.
   */
  onDead(): void {
    this.roundTripMs = (2 * this.doubtMs - SLACK_MS) / DOUBT_ROUND_TRIPS;
  }

  /** The time after which a request without an answer is in doubt. */
  get doubtMs(): number {
    if (Number.isNaN(this.roundTripMs)) return MAX_DOUBT_MS;
    return Math.min(DOUBT_ROUND_TRIPS * this.roundTripMs + SLACK_MS, MAX_DOUBT_MS);
  }
}
