import { type Clock, steadyClock } from '../../lib/clock.ts';

export type Warn = (message: string, fields?: Readonly<Record<string, string>>) => void;

/** Redis counts as healthy again after this time without a failure. A lasting failure recurs twice a second. */
const QUIET_MS = 5_000;
/** During a busy start answers are late, so an unreachable Redis is not logged yet. */
const START_MS = 5_000;
const MAX_DETAIL_LENGTH = 200;

/** Why a connection or a command failed: `away`, or the code with which an error of Redis begins. */
export function redisErrorOf(error: unknown): string {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return 'away';
  return error.message.split(' ', 1)[0] ?? '';
}

/** The health of Redis over all connections to it. Logs each reason of a failure once, and the recovery. */
export class RedisHealth {
  readonly #onWarn: Warn;
  readonly #clock: Clock;
  readonly #loggedReasons = new Set<string>();
  #reason: string | null = null;
  #failedAtMs = 0;
  readonly #openedAtMs: number;

  constructor(onWarn: Warn, clock: Clock = steadyClock) {
    this.#onWarn = onWarn;
    this.#clock = clock;
    this.#openedAtMs = clock.now();
  }

  /** The reason of the latest failure; null while Redis is healthy. */
  get reason(): string | null {
    this.worked();
    return this.#reason;
  }

  /** Ends a failure that is QUIET_MS old. Called after each successful command, and before the reason is read. */
  worked(): void {
    if (this.#reason === null || this.#clock.now() - this.#failedAtMs < QUIET_MS) return;
    if (this.#loggedReasons.size > 0) this.#onWarn('Redis is back', { reason: this.#reason });
    this.#reason = null;
    this.#loggedReasons.clear();
  }

  failed(error: unknown): void {
    const reason = redisErrorOf(error);
    this.#reason = reason;
    this.#failedAtMs = this.#clock.now();
    if (this.#loggedReasons.has(reason)) return;
    if (reason === 'away' && this.#failedAtMs - this.#openedAtMs < START_MS) return;
    this.#loggedReasons.add(reason);
    const detail = error instanceof Error ? error.message : String(error);
    const text = reason === 'away' ? 'Redis cannot be reached' : 'Redis refuses commands';
    this.#onWarn(`${text}: ${detail.slice(0, MAX_DETAIL_LENGTH)}`, { reason });
  }
}
