import type { Redis } from 'ioredis';
import { steadyClock, within } from '../../lib/clock.ts';
import { RecordsUnavailableError } from '../order-records.ts';
import { openRedisClient } from './client.ts';
import { RedisHealth, type Warn } from './redis-health.ts';

/** The script may have run although its answer is missing. */
export class RedisSilentError extends RecordsUnavailableError {}

/** Redis has answered by an error. */
export class RedisRefusedError extends RedisSilentError {}

/** The options that all connections to the same Redis share. */
export interface RedisConnectionOptions {
  readonly redisUrl: string;
  /** The prefix of all keys; replicas of one gateway share it. */
  readonly prefix: string;
  /** The deadline of connecting, and of each command; a second where left out. */
  readonly redisTimeoutMs?: number;
  readonly onWarn: Warn;
}

export const REDIS_TIMEOUT_MS = 1_000;

/** `health` is that of all connections to the same Redis. */
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

  /** Calls of one turn of the event loop go over one socket, with nothing between them. */
  run(
    script: string,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    return this.#ask(() => this.#redis.eval(script, keys.length, ...keys, ...args));
  }

  /** How many replicas of Redis have what this very connection wrote last, once as many as are wanted have, or after so long. */
  async copies(wanted: number, ms: number): Promise<number> {
    return Number(await this.#ask(() => this.#redis.wait(wanted, ms)));
  }

  /** Calls it at each (re)connection that can take commands. */
  onReady(task: () => void): void {
    this.#redis.on('ready', task);
  }

  close(): void {
    this.#redis.disconnect();
  }

  /** Sends nothing that would be queued: a Redis that is unreachable fails immediately. */
  async #ask<T>(send: () => Promise<T>): Promise<T> {
    if (this.#redis.status !== 'ready')
      throw new RecordsUnavailableError('Redis cannot be reached');
    try {
      // Not by the client's own timer, which fires before the socket is read where the whole process was paused.
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
