import { steadyClock, within } from '../../lib/clock.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import { RecordsUnavailableError } from '../order-records.ts';
import { openRedisClient } from './client.ts';
import { createRedisHealth, type RedisHealth, type RedisHealthOptions } from './redis-health.ts';

export type RedisConnection = Awaited<ReturnType<typeof connectRedis>>;

/** The script may have run although its answer is missing. */
export class RedisSilentError extends RecordsUnavailableError {}

/** The options that all connections to the same Redis share. */
export interface RedisConnectionOptions extends Pick<RedisHealthOptions, 'onWarn' | 'onFailed'> {
  readonly url: string;
  /** The prefix of all keys; replicas of one gateway share it. */
  readonly prefix: string;
  /** The deadline of connecting, and of each command; a second where left out. */
  readonly redisTimeoutMs?: number;
  /** Its own where left out. */
  readonly health?: RedisHealth;
}

export const REDIS_TIMEOUT_MS = 1_000;

/** A connection for scripts. */
export async function connectRedis({
  url,
  redisTimeoutMs = REDIS_TIMEOUT_MS,
  onWarn,
  onFailed,
  health = createRedisHealth({ onWarn, onFailed }),
}: RedisConnectionOptions) {
  const redis = await openRedisClient({ url, timeoutMs: redisTimeoutMs, health });

  /** Sends nothing that would be queued: a Redis that is unreachable fails immediately. */
  async function ask<T>(send: () => Promise<T>): Promise<T> {
    if (redis.status !== 'ready') throw new RecordsUnavailableError('Redis cannot be reached');
    try {
      // Not by the client's own timer, which fires before the socket is read where the whole process was paused.
      const answer = await within(
        steadyClock,
        redisTimeoutMs,
        send().then((reply) => ({ reply })),
      );
      if (answer === null) throw new Error('Command timed out');
      health.worked();
      return answer.reply;
    } catch (cause) {
      health.failed(cause);
      const isReply = cause instanceof Error && cause.name === 'ReplyError';
      const message = isReply ? `Redis refuses: ${cause.message}` : 'Redis did not answer';
      throw new RedisSilentError(message, { cause });
    }
  }

  return {
    /** Calls of one turn of the event loop go over one socket, with nothing between them. */
    run: (
      script: string,
      keys: readonly string[],
      args: readonly (string | number)[],
    ): Promise<unknown> => ask(() => redis.eval(script, keys.length, ...keys, ...args)),
    /** How many replicas of Redis have what this very connection wrote last, once as many as are wanted have, or after so long. */
    copies: (wanted: number, ms: number): Promise<number> =>
      ask(async () => Number(await redis.wait(wanted, ms))),
    /** One section of INFO; null where Redis refuses it. */
    info: (section: string): Promise<string | null> =>
      within(steadyClock, redisTimeoutMs, redis.info(section)).catch(() => null),
    isReady: () => redis.status === 'ready',
    /** Calls it at each (re)connection that can take commands. */
    onReady(task: () => void) {
      redis.on('ready', task);
    },
    close: () => redis.disconnect(),
  };
}

/** Names the settings that make Redis forget orders, as far as INFO shows them, at once and of each Redis that comes later. */
export async function watchSettings(
  redis: RedisConnection,
  onWarn: (message: string) => void,
): Promise<void> {
  let told = '';
  const look = async () => {
    const memory = await redis.info('memory');
    const policy = memory && /maxmemory_policy:(\S+)/.exec(memory)?.[1];
    const limited = memory && !/maxmemory:0\r?\n/.test(memory);
    const evicting = limited && policy && policy !== 'noeviction' ? policy : '';
    if (evicting !== '' && evicting !== told) {
      onWarn(`Redis has maxmemory-policy ${policy}: it may drop order records; set noeviction`);
    }
    told = evicting;
  };
  redis.onReady(() => fireAndForget('redis', look()));
  await look();
}
