import type { Redis } from 'ioredis';
import { RecordsUnavailableError } from './order-records.ts';

export interface RedisConnection {
  /** Runs a script at once or fails: nothing waits for a Redis that is away. */
  run(
    script: string,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown>;
  /** One section of INFO; null where Redis will not say. */
  info(section: string): Promise<string | null>;
  isReady(): boolean;
  /** Called at each (re)connection that can take commands. */
  onReady(task: () => void): void;
  close(): void;
}

/** The script may have run although its answer is missing. */
export class RedisSilentError extends RecordsUnavailableError {}

export interface RedisConnectionOptions {
  readonly url: string;
  readonly onWarn: (message: string) => void;
}

const COMMAND_TIMEOUT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 1_000;
/** Short, so that a replica is back well before a new epoch opens. */
const RECONNECT_MAX_MS = 500;

/** A connection for order records. ioredis is loaded only here, by who has a Redis. */
export async function connectRedis(options: RedisConnectionOptions): Promise<RedisConnection> {
  const { Redis } = await import('ioredis');
  const redis: Redis = new Redis(options.url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    // A reservation that was sent before the line broke must not be made once more behind our back.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    // A line that died without a word is dropped; heartbeats keep a living one busy.
    socketTimeout: 3 * COMMAND_TIMEOUT_MS,
    retryStrategy: (attempt) => Math.min(50 * attempt, RECONNECT_MAX_MS),
    // After a failover the old primary refuses writes: the address may lead to the new one by now.
    reconnectOnError: (error) => error.message.includes('READONLY'),
  });
  let reported = false;
  redis.on('ready', () => {
    if (reported) options.onWarn('Redis is back');
    reported = false;
  });
  redis.on('error', (error: Error) => {
    if (!reported) options.onWarn(`Redis cannot be reached: ${error.message}`);
    reported = true;
  });
  // A Redis that is away now may come later; until then orders are refused.
  await redis.connect().catch(() => {});

  return {
    async run(script, keys, args) {
      if (redis.status !== 'ready') throw new RecordsUnavailableError('Redis cannot be reached');
      try {
        return await redis.eval(script, keys.length, ...keys, ...args);
      } catch (cause) {
        throw new RedisSilentError('Redis did not answer', { cause });
      }
    },
    info: (section) => redis.info(section).catch(() => null),
    isReady: () => redis.status === 'ready',
    onReady(task) {
      redis.on('ready', task);
    },
    close: () => redis.disconnect(),
  };
}
