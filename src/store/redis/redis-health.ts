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

export type Warn = (message: string, fields?: Readonly<Record<string, string>>) => void;

export interface RedisHealthOptions {
  readonly onWarn: Warn;
  readonly onFailed?: ((kind: RedisError) => void) | undefined;
  readonly clock?: Clock;
}

const CODES: ReadonlySet<string> = new Set(REDIS_ERRORS);
// The code of an error within a script follows the script's own in older versions.
const CODE = /(?:^|[\s:-])([A-Z]{3,})(?=\s)/g;
/** Heartbeats are sent twice a second, so trouble that lasts is seen within it. */
const QUIET_MS = 5_000;
const MAX_DETAIL_LENGTH = 200;

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

export type RedisHealth = ReturnType<typeof createRedisHealth>;

/**
 * Whether Redis is well, over all connections to it: a line of the log as trouble begins or has another reason than
 * before, and one as it ends. Two connections that fail each in its own way write two.
 */
export function createRedisHealth({ onWarn, onFailed, clock = steadyClock }: RedisHealthOptions) {
  let reason: string | null = null;
  let failedAtMs = 0;
  const told = new Set<string>();

  /** Called with each command that Redis has carried out. */
  function worked(): void {
    if (reason === null || clock.now() - failedAtMs < QUIET_MS) return;
    onWarn('Redis is back', { reason });
    reason = null;
    told.clear();
  }

  return {
    worked,
    /** The reason of the newest failure, as long as the trouble lasts; null: Redis is well. */
    get reason(): string | null {
      worked();
      return reason;
    },
    /** `refusal`: what Redis refuses of the configuration, in words for an operator. */
    failed(error: unknown, refusal: string | null = null): void {
      const kind = redisErrorOf(error);
      onFailed?.(kind);
      reason = kind === 'connection' || kind === 'timeout' ? 'away' : kind;
      failedAtMs = clock.now();
      if (told.has(reason)) return;
      told.add(reason);
      const detail = error instanceof Error ? error.message : String(error);
      const text = reason === 'away' ? 'Redis cannot be reached' : 'Redis refuses commands';
      onWarn(refusal ?? `${text}: ${detail.slice(0, MAX_DETAIL_LENGTH)}`, { reason });
    },
  };
}
