import type { Redis } from 'ioredis';
import { steadyClock, within } from '../../lib/clock.ts';
import { RecordsUnavailableError } from '../order-records.ts';
import { openRedisClient } from './client.ts';
import { RedisHealth, type Warn } from './redis-health.ts';

/** The script may have run although its answer is missing. */
export class RedisSilentError extends RecordsUnavailableError {}

/** The options that all connections to the same Redis share. */
export interface RedisConnectionOptions {
  readonly url: string;
  /** The prefix of all keys; replicas of one gateway share it. */
  readonly prefix: string;
  /** The deadline of connecting, and of each command; a second where left out. */
  readonly redisTimeoutMs?: number;
  readonly onWarn: Warn;
  /** Its own where left out. */
  readonly health?: RedisHealth;
}

export const REDIS_TIMEOUT_MS = 1_000;

export async function connectRedis(options: RedisConnectionOptions): Promise<RedisConnection> {
  const { url, redisTimeoutMs: timeoutMs = REDIS_TIMEOUT_MS, onWarn } = options;
  const { health = new RedisHealth(onWarn) } = options;
  return new RedisConnection(await openRedisClient({ url, timeoutMs, health }), timeoutMs, health);
}

/** A connection for scripts. */
export class RedisConnection {
  readonly #redis: Redis;
  readonly #timeoutMs: number;
  readonly #health: RedisHealth;

  constructor(redis: Redis, timeoutMs: number, health: RedisHealth) {
    this.#redis = redis;
    this.#timeoutMs = timeoutMs;
    this.#health = health;
  }

  get isReady(): boolean {
    return this.#redis.status === 'ready';
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
    if (!this.isReady) throw new RecordsUnavailableError('Redis cannot be reached');
    try {
      // Not by the client's own timer, which fires before the socket is read where the whole process was paused.
      const asked = send().then((reply) => ({ reply }));
      const answer = await within(steadyClock, this.#timeoutMs, asked);
      if (answer === null) throw new Error('Command timed out');
      this.#health.worked();
      return answer.reply;
    } catch (cause) {
      this.#health.failed(cause);
      const isReply = cause instanceof Error && cause.name === 'ReplyError';
      const message = isReply ? `Redis refuses: ${cause.message}` : 'Redis did not answer';
      throw new RedisSilentError(message, { cause });
    }
  }
}
