import { type Clock, steadyClock } from '../../lib/clock.ts';

export type Warn = (message: string, fields?: Readonly<Record<string, string>>) => void;

/** The codes of Redis's answers that operators can do something about. */
const CODES: ReadonlySet<string> = new Set(
  'OOM READONLY MISCONF NOREPLICAS NOAUTH NOPERM LOADING'.split(' '),
);
// The code of an error within a script follows the script's own in older versions.
const CODE = /(?:^|[\s:-])([A-Z]{3,})(?=\s)/g;
/** Redis is looked at twice a second, so trouble that lasts is seen within it. */
const QUIET_MS = 5_000;
const START_MS = 5_000;
const MAX_DETAIL_LENGTH = 200;

/** Why a connection or a command failed: `away`, the code of Redis's answer, or `refused` where that has another. */
export function redisErrorOf(error: unknown): string {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return 'away';
  if (/^(WRONGPASS|NOAUTH|ERR invalid password)/.test(error.message)) return 'NOAUTH';
  const words = [...error.message.matchAll(CODE)].map(([, word = '']) => word);
  return words.find((word) => CODES.has(word)) ?? 'refused';
}

/** Whether Redis has no room for a write, in memory or on its disk, and would answer a read. */
export function isUnwritable(error: unknown): boolean {
  return ['OOM', 'MISCONF'].includes(redisErrorOf(error));
}

/**
 * Whether Redis is well, over all connections to it: a line of the log as trouble begins or has another reason than
 * before, and one as it ends. Two connections that fail each in its own way write two.
 */
export class RedisHealth {
  readonly #onWarn: Warn;
  readonly #clock: Clock;
  readonly #told = new Set<string>();
  #reason: string | null = null;
  #failedAtMs = 0;
  readonly #openedAtMs: number;

  constructor(onWarn: Warn, clock: Clock = steadyClock) {
    this.#onWarn = onWarn;
    this.#clock = clock;
    this.#openedAtMs = clock.now();
  }

  /** The reason of the newest failure, as long as the trouble lasts; null: Redis is well. */
  get reason(): string | null {
    this.worked();
    return this.#reason;
  }

  /** Called with each command that Redis has carried out. */
  worked(): void {
    if (this.#reason === null || this.#clock.now() - this.#failedAtMs < QUIET_MS) return;
    if (this.#told.size > 0) this.#onWarn('Redis is back', { reason: this.#reason });
    this.#reason = null;
    this.#told.clear();
  }

  /** `refusal`: what Redis refuses of the configuration, in words for an operator. */
  failed(error: unknown, refusal: string | null = null): void {
    const reason = redisErrorOf(error);
    this.#reason = reason;
    this.#failedAtMs = this.#clock.now();
    if (this.#told.has(reason)) return;
    // A busy start delays answers that arrive a moment later. Trouble that lasts fails again within a second.
    if (reason === 'away' && this.#failedAtMs - this.#openedAtMs < START_MS) return;
    this.#told.add(reason);
    const detail = error instanceof Error ? error.message : String(error);
    const text = reason === 'away' ? 'Redis cannot be reached' : 'Redis refuses commands';
    this.#onWarn(refusal ?? `${text}: ${detail.slice(0, MAX_DETAIL_LENGTH)}`, { reason });
  }
}
