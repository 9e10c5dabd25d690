import { type Clock, steadyClock } from '../../lib/clock.ts';

export type Warn = (message: string, fields?: Readonly<Record<string, string>>) => void;

/** The codes of Redis's answers that operators can do something about. */
const CODES: ReadonlySet<string> = new Set(
  'OOM READONLY MISCONF NOREPLICAS NOAUTH NOPERM LOADING'.split(' '),
);
// The code of an error within a script follows the script's own in older versions.
const CODE = /(?:^|[\s:-])([A-Z]{3,})(?=\s)/g;
/** Redis is looked at twice a second, so a failure that lasts is found within it. */
const QUIET_MS = 5_000;
const MAX_DETAIL_LENGTH = 200;

/** Why a connection or a command failed: `away`, the code of Redis's answer, or `refused` where that has another. */
export function redisErrorOf(error: unknown): string {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return 'away';
  if (/^(WRONGPASS|NOAUTH|ERR invalid password)/.test(error.message)) return 'NOAUTH';
  const words = [...error.message.matchAll(CODE)].map(([, word = '']) => word);
  return words.find((word) => CODES.has(word)) ?? 'refused';
}

/** Whether Redis is well, over all connections to it. The log has a line for each reason of a failure, and one once it is over. */
export class RedisHealth {
  readonly #onWarn: Warn;
  readonly #clock: Clock;
  /** The reasons that were logged. */
  readonly #logged = new Set<string>();
  #reason: string | null = null;
  #failedAtMs = 0;

  constructor(onWarn: Warn, clock: Clock = steadyClock) {
    this.#onWarn = onWarn;
    this.#clock = clock;
  }

  /** The reason of the newest failure; null while Redis is well. */
  get reason(): string | null {
    this.worked();
    return this.#reason;
  }

  /** Called with each command that Redis has carried out. */
  worked(): void {
    if (this.#reason === null || this.#clock.now() - this.#failedAtMs < QUIET_MS) return;
    this.#onWarn('Redis is back', { reason: this.#reason });
    this.#reason = null;
    this.#logged.clear();
  }

  failed(error: unknown): void {
    const reason = redisErrorOf(error);
    this.#reason = reason;
    this.#failedAtMs = this.#clock.now();
    if (this.#logged.has(reason)) return;
    this.#logged.add(reason);
    const detail = error instanceof Error ? error.message : String(error);
    const text = reason === 'away' ? 'Redis cannot be reached' : 'Redis refuses commands';
    this.#onWarn(`${text}: ${detail.slice(0, MAX_DETAIL_LENGTH)}`, { reason });
  }
}
