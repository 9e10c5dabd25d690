import type { Redis } from 'ioredis';
import { steadyClock, within } from '../../lib/clock.ts';
import { RecordsUnavailableError } from '../order-records.ts';
import { openRedisClient } from './client.ts';
import { RedisHealth, type Warn } from './redis-health.ts';

/** There is no usable answer, but the script may have run. */
export class RedisSilentError extends RecordsUnavailableError {}

/** Redis has answered with an error. */
export class RedisRefusedError extends RedisSilentError {}

/** The options that all connections to the same Redis share. */
export interface RedisConnectionOptions {
  readonly redisUrl: string;
  /** The prefix of all keys; replicas of one gateway share it. */
  readonly prefix: string;
  /** The deadline of connecting, and of each command; a second by default. */
  readonly redisTimeoutMs?: number;
  readonly onWarn: Warn;
}

export const REDIS_TIMEOUT_MS = 1_000;

/** `health` belongs to all connections to the same Redis. */
export async function connectRedis(
  { redisUrl: url, redisTimeoutMs: timeoutMs = REDIS_TIMEOUT_MS, onWarn }: RedisConnectionOptions,
  health = new RedisHealth(onWarn),
): Promise<RedisConnection> {
  return new RedisConnection(await openRedisClient({ url, timeoutMs, health }), timeoutMs, health);
}

/** A connection for scripts. */
export class RedisConnection {
  readonly health: RedisHealth;
  readonly #redis: Redis;
  readonly #timeoutMs: number;

  constructor(redis: Redis, timeoutMs: number, health: RedisHealth) {
    this.health = health;
    this.#redis = redis;
    this.#timeoutMs = timeoutMs;
  }

  /** Runs a script. Calls in one turn of the event loop are sent together on one socket, with nothing between them. */
  run(
    script: string,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    return this.#ask(() => this.#redis.eval(script, keys.length, ...keys, ...args));
  }

  /** Returns how many replicas of Redis have the latest write of this connection, once enough have it or after `ms`. */
  async copies(wanted: number, ms: number): Promise<number> {
    return Number(await this.#ask(() => this.#redis.wait(wanted, ms)));
  }

  /** Calls the task at each (re)connection that can take commands. */
  onReady(task: () => void): void {
    this.#redis.on('ready', task);
  }

  close(): void {
    this.#redis.disconnect();
  }

  /** Never queues a command: an unreachable Redis fails immediately. */
  async #ask<T>(send: () => Promise<T>): Promise<T> {
    if (this.#redis.status !== 'ready')
      throw new RecordsUnavailableError('Redis cannot be reached');
    try {
      // The client's own timer would fire before the socket is read, if the whole process was paused.
      const asked = send().then((reply) => ({ reply }));
      const answer = await within(steadyClock, this.#timeoutMs, asked);
      if (answer === null) throw new Error('Command timed out');
      this.health.worked();
      return answer.reply;
    } catch (cause) {
      this.health.failed(cause);
      if (!(cause instanceof Error) || cause.name !== 'ReplyError') {
        throw new RedisSilentError('Redis did not answer', { cause });
      }
      throw new RedisRefusedError(`Redis refuses: ${cause.message}`, { cause });
    }
  }
}
