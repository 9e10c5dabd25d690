import { setTimeout as delay } from 'node:timers/promises';
import { Redis, type RedisOptions } from 'ioredis';
import { steadyClock, within } from '../../lib/clock.ts';
import { RecordsUnavailableError } from '../refusals.ts';
import { StoreError } from '../store-error.ts';
import { RedisHealth, type Warn } from './redis-health.ts';

/** No usable answer arrived. The script may have run. */
export class RedisSilentError extends RecordsUnavailableError {}

/** Redis answered with an error. The script may have written before that. */
export class RedisRefusedError extends RedisSilentError {}

/** The options that all connections to the same Redis share. */
export interface RedisConnectionOptions {
  readonly redisUrl: string;
  /** The prefix of all keys. The replicas of the service for one gateway share it. */
  readonly prefix: string;
  /** The deadline of connecting, and of each command; a second by default. */
  readonly redisTimeoutMs?: number;
  readonly onWarn: Warn;
}

const TIMEOUT_MS = 1_000;
const RECONNECT_MAX_MS = 500;

/**
 * Connects to Redis, which may also become reachable later. Throws a StoreError if Redis refuses the password or lacks the
 * database, which is a configuration error. `health` belongs to all connections to the same Redis.
 */
export async function connectRedis(
  { redisUrl, redisTimeoutMs: timeoutMs = TIMEOUT_MS, onWarn }: RedisConnectionOptions,
  health = new RedisHealth(onWarn),
): Promise<RedisConnection> {
  let isBeingReplaced = false;
  const redis = new Redis(redisUrl, {
    ...clientOptions(timeoutMs),
    // After a failover the old primary refuses writes; the address may already lead to the new primary.
    reconnectOnError({ message }: Error) {
      // True only once for each connection, because each time ioredis adds a listener to the socket.
      if (isBeingReplaced || !message.includes('READONLY')) return false;
      isBeingReplaced = true;
      return true;
    },
  });
  redis.on('close', () => {
    isBeingReplaced = false;
  });
  let refusal: string | null = null;
  let isOpen = false;
  redis.on('error', (error: Error) => {
    const refused = refusalOf(error);
    // ioredis would continue in database 0, whose keys belong to others.
    if (refused === NO_DATABASE) redis.disconnect(true);
    refusal ??= refused;
    // At the start, a refusal is thrown and not logged.
    if (isOpen || refusal === null) health.failed(error);
  });
  const connected = redis.connect().catch(() => {});
  // Without this limit, a Redis that accepts connections but never answers would cost two timeouts.
  await Promise.race([connected, delay(timeoutMs, undefined, { ref: false })]);
  if (refusal !== null) {
    redis.disconnect();
    throw new StoreError(refusal);
  }
  isOpen = true;
  return new RedisConnection(redis, timeoutMs, health);
}

/** A connection for scripts, without an offline queue or command retries. */
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

  /** How many replicas of Redis have the latest write of this connection, once enough have it or it takes too long. */
  async copies(wanted: number): Promise<number> {
    // Less than the timeout of a command, so that Redis answers before it.
    const ms = Math.round(0.8 * this.#timeoutMs);
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
      // The timer of ioredis would fire before the socket is read, if the whole process was paused.
      const answered = send().then((reply) => ({ reply }));
      const answer = await within(steadyClock, this.#timeoutMs, answered);
      if (answer === null) throw new Error('Command timed out');
      this.health.worked();
      return answer.reply;
    } catch (error) {
      this.health.failed(error);
      if (!(error instanceof Error) || error.name !== 'ReplyError') {
        throw new RedisSilentError('Redis did not answer', { cause: error });
      }
      throw new RedisRefusedError(`Redis refuses: ${error.message}`, { cause: error });
    }
  }
}

function clientOptions(timeoutMs: number) {
  return {
    lazyConnect: true,
    // CLIENT SETINFO is forbidden to users with few rights.
    disableClientInfo: true,
    enableOfflineQueue: false,
    // A command that was sent before the connection broke must not be resent automatically.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: timeoutMs,
    // Drops a half-open connection, but only while an answer is awaited.
    socketTimeout: 3 * timeoutMs,
    // The pauses are short, because a process must reconnect soon after a failover.
    retryStrategy: (attempt) => Math.min(50 * attempt, RECONNECT_MAX_MS),
  } satisfies RedisOptions;
}

const NO_DATABASE = 'Redis has no such database';

/** Returns null for an error that may be temporary. */
function refusalOf(
  error: Error & { readonly command?: { readonly name?: string } },
): string | null {
  if (error.name !== 'ReplyError') return null;
  if (/^(WRONGPASS|NOAUTH|ERR invalid password)/.test(error.message)) {
    return 'Redis refuses the user or the password';
  }
  return error.command?.name === 'select' ? NO_DATABASE : null;
}
