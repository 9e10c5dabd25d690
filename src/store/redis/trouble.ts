import { type Clock, steadyClock } from '../../lib/clock.ts';

/** Why a connection or a command failed; all but the first two are Redis's own answers. */
export const REDIS_ERRORS = [
  'connection',
  'timeout',
  'OOM',
  'READONLY',
  'MISCONF',
  'NOREPLICAS',
  'NOAUTH',
  'NOPERM',
  'LOADING',
  'refused',
] as const;

export type RedisError = (typeof REDIS_ERRORS)[number];

/** A line of the log. */
export type Warn = (message: string, fields?: Readonly<Record<string, string>>) => void;

export interface RedisTroubleOptions {
  readonly onWarn: Warn;
  /** Called with each failure. */
  readonly onFailed?: ((kind: RedisError) => void) | undefined;
  /** A monotonic clock. */
  readonly clock?: Clock;
}

const CODES: ReadonlySet<string> = new Set(REDIS_ERRORS);
// The code of an error within a script follows the script's own in older versions.
const CODE = /(?:^|[\s:-])([A-Z]{3,})(?=\s)/g;
/** Heartbeats are sent twice a second, so trouble that lasts is seen within it. */
const QUIET_MS = 5_000;
const LONGEST_DETAIL = 200;

/** The kind of a failed connection or command, for operators. */
export function redisErrorOf(error: unknown): RedisError {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  if (name !== 'ReplyError') return message === 'Command timed out' ? 'timeout' : 'connection';
  if (/^(WRONGPASS|NOAUTH|ERR invalid password)/.test(message)) return 'NOAUTH';
  const code = [...message.matchAll(CODE)]
    .map(([, word = '']) => word)
    .find((word) => CODES.has(word));
  return (code ?? 'refused') as RedisError;
}

/**
 * Collects the faults of Redis, over all connections to it: each reason has one line of the log until it is over,
 * whoever sees it first, and however many commands fail of it.
 */
export class RedisTrouble {
  readonly #options: RedisTroubleOptions;
  readonly #clock: Clock;
  /** The reasons that have their line, with the last failure of each; the newest failure's is the last. */
  readonly #failedAtMs = new Map<string, number>();

  constructor(options: RedisTroubleOptions) {
    this.#options = options;
    this.#clock = options.clock ?? steadyClock;
  }

  /** The reason of the newest failure, as long as it lasts; null: Redis is well. */
  get reason(): string | null {
    this.#forget();
    return [...this.#failedAtMs.keys()].at(-1) ?? null;
  }

  /** `refusal`: what Redis refuses of the configuration, in words for an operator. */
  failed(error: unknown, refusal: string | null = null): void {
    const kind = redisErrorOf(error);
    this.#options.onFailed?.(kind);
    const reason = kind === 'connection' || kind === 'timeout' ? 'away' : kind;
    const isTold = this.#failedAtMs.delete(reason);
    this.#failedAtMs.set(reason, this.#clock.now());
    if (isTold) return;
    const detail = error instanceof Error ? error.message : String(error);
    const text = reason === 'away' ? 'Redis cannot be reached' : 'Redis refuses commands';
    const message = refusal ?? `${text}: ${detail.slice(0, LONGEST_DETAIL)}`;
    this.#options.onWarn(message, { reason });
  }

  /** Called with each command that Redis has carried out. */
  worked(): void {
    if (this.#failedAtMs.size > 0) this.#forget();
  }

  #forget(): void {
    const before = this.#failedAtMs.size;
    const quietSinceMs = this.#clock.now() - QUIET_MS;
    for (const [reason, atMs] of this.#failedAtMs) {
      if (atMs <= quietSinceMs) this.#failedAtMs.delete(reason);
    }
    if (before > 0 && this.#failedAtMs.size === 0) this.#options.onWarn('Redis is back');
  }
}
