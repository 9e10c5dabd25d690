import { setTimeout as delay } from 'node:timers/promises';
import type { Redis, RedisOptions } from 'ioredis';
import { StoreError } from '../store-error.ts';
import type { RedisHealth } from './redis-health.ts';

const RECONNECT_MAX_MS = 500;

interface RedisClientOptions {
  readonly url: string;
  /** The deadline of connecting. Commands have a separate one. */
  readonly timeoutMs: number;
  /** Receives each failure of the connection; `RedisConnection` reports failures of commands. */
  readonly health: RedisHealth;
}

/**
 * A client of Redis without an offline queue or command retries. An unreachable Redis may become reachable later. A Redis
 * that refuses the password or lacks the database is a configuration error, so this throws a StoreError. ioredis is loaded
 * only here, if REDIS_URL is set.
 */
export async function openRedisClient(options: RedisClientOptions): Promise<Redis> {
  const { url, timeoutMs, health } = options;
  const { Redis } = await import('ioredis');
  let isLeft = false;
  const redis: Redis = new Redis(url, {
    ...connectionOptions(timeoutMs),
    // After a failover the old primary refuses writes; the address may already lead to the new primary.
    reconnectOnError({ message }: Error) {
      // Once for each connection: otherwise each refusal of a burst would add another listener to the socket.
      if (isLeft || !message.includes('READONLY')) return false;
      isLeft = true;
      return true;
    },
  });
  redis.on('close', () => {
    isLeft = false;
  });
  let refusal: string | null = null;
  let isOpen = false;
  redis.on('error', (error: Error) => {
    const refused = refusalOf(error);
    // The client would continue in database 0, whose keys belong to others.
    if (refused === NO_DATABASE) redis.disconnect(true);
    refusal ??= refused;
    // At the start, the thrown error has the refusal as its message.
    if (isOpen || refusal === null) health.failed(error);
  });
  const connected = redis.connect().catch(() => {});
  // Otherwise a Redis that accepts connections but never answers would cost two timeouts.
  await Promise.race([connected, delay(timeoutMs, undefined, { ref: false })]);
  if (refusal !== null) {
    redis.disconnect();
    throw new StoreError(refusal);
  }
  isOpen = true;
  return redis;
}

function connectionOptions(timeoutMs: number) {
  return {
    lazyConnect: true,
    // A user with few rights may not send CLIENT SETINFO.
    disableClientInfo: true,
    enableOfflineQueue: false,
    // A command that was sent before the connection broke must not be resent automatically.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: timeoutMs,
    // Drops a half-open connection. It applies only while an answer is awaited.
    socketTimeout: 3 * timeoutMs,
    // Short, so that a process reconnects soon after a failover.
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
