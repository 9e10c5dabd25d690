import { setTimeout as delay } from 'node:timers/promises';
import type { Redis, RedisOptions } from 'ioredis';
import { readSentinelUrl, type SentinelUrl } from '../../lib/sentinel-url.ts';
import { StoreError } from '../store-error.ts';
import type { RedisHealth } from './redis-health.ts';

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
  const sentinel = readSentinelUrl(url);
  let isLeft = false;
  const connection = {
    ...connectionOptions(timeoutMs),
    // After a failover the old primary refuses writes; the address may already lead to the new primary.
    reconnectOnError({ message }: Error) {
      // Once for each connection: otherwise each refusal of a burst would add another listener to the socket.
      if (isLeft || !message.includes('READONLY')) return false;
      isLeft = true;
      return true;
    },
  };
  const redis: Redis = sentinel
    ? new Redis({ ...connection, ...sentinelOptions(sentinel, timeoutMs) })
    : new Redis(url, connection);
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
  redis.on('sentinelError', (error: Error) => health.failed(error));
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
    retryStrategy: retryDelay,
  } satisfies RedisOptions;
}

/** Short, so that a process reconnects soon after a failover. */
const RECONNECT_MAX_MS = 500;

function retryDelay(attempt: number): number {
  return Math.min(50 * attempt, RECONNECT_MAX_MS);
}

function sentinelOptions({ isEncrypted, sentinels, ...rest }: SentinelUrl, timeoutMs: number) {
  return {
    ...rest,
    sentinels: [...sentinels],
    // Keeps a hanging Sentinel from blocking the others.
    sentinelCommandTimeout: timeoutMs,
    sentinelRetryStrategy: retryDelay,
    ...(isEncrypted && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
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
