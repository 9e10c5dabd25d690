import { type Clock, steadyClock } from '../../../lib/clock.ts';

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

/** Whether Redis has no room for a write, in memory or on its disk, and would answer a read. */
export function isUnwritable(error: unknown): boolean {
  return ['OOM', 'MISCONF'].includes(redisErrorOf(error));
}

/**
 * Whether Redis is well, over all connections to it: a line of the log as trouble begins or has another reason than
 * before, and one as it ends. Two connections that fail each in its own way write two.
 */
export class RedisTrouble {
  readonly #options: RedisTroubleOptions & { readonly clock: Clock };
  #reason: string | null = null;
  readonly #told = new Set<string>();
  #failedAtMs = 0;

  constructor(options: RedisTroubleOptions) {
    this.#options = { clock: steadyClock, ...options };
  }

  /** The reason of the newest failure, as long as the trouble lasts; null: Redis is well. */
  get reason(): string | null {
    this.worked();
    return this.#reason;
  }

  /** `refusal`: what Redis refuses of the configuration, in words for an operator. */
  failed(error: unknown, refusal: string | null = null): void {
    const kind = redisErrorOf(error);
    this.#options.onFailed?.(kind);
    this.#reason = kind === 'connection' || kind === 'timeout' ? 'away' : kind;
    this.#failedAtMs = this.#options.clock.now();
    if (this.#told.has(this.#reason)) return;
    this.#told.add(this.#reason);
    const detail = error instanceof Error ? error.message : String(error);
    const text = this.#reason === 'away' ? 'Redis cannot be reached' : 'Redis refuses commands';
    const message = refusal ?? `${text}: ${detail.slice(0, LONGEST_DETAIL)}`;
    this.#options.onWarn(message, { reason: this.#reason });
  }

  /** Called with each command that Redis has carried out. */
  worked(): void {
    if (this.#reason === null || this.#options.clock.now() - this.#failedAtMs < QUIET_MS) return;
    this.#options.onWarn('Redis is back', { reason: this.#reason });
    this.#reason = null;
    this.#told.clear();
  }
}
