import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './free-ports.ts';
import { type Program, startProgram } from './started-program.ts';

export interface TestRedis {
  readonly url: string;
  /** One command on a connection of the test's own. */
  command(name: string, ...args: (string | number)[]): Promise<unknown>;
  /** Ends it as a power cut would. */
  kill(): Promise<void>;
  /** Starts it again on the same port, with what it had written to its folder. */
  start(): Promise<void>;
  /** Signals the process: while it is frozen, no client can connect to it or gets an answer. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Each Redis of the tests asks for it, so that no test's log may hold it. */
export const REDIS_PASSWORD = 'canary-of-redis';

export interface TestRedisOptions {
  /** More arguments of redis-server, such as `--appendonly yes`. */
  readonly args?: readonly string[];
}

/** A real redis-server of this test alone; without arguments it keeps nothing over a restart. */
export async function startTestRedis(
  serverPath: string,
  { args = [] }: TestRedisOptions = {},
): Promise<TestRedis> {
  const folder = await mkdtempDisposable(join(tmpdir(), 'trading-graph-redis-'));
  const port = await freePort();
  const all = [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder.path, '--save', ''],
    ...['--requirepass', REDIS_PASSWORD, '--masterauth', REDIS_PASSWORD],
    ...args,
  ];
  let server: Program;

  async function start() {
    let isReady = false;
    const onLine = (line: string) => {
      isReady ||= line.includes('Ready to accept connections');
    };
    server = await startProgram(serverPath, all, () => isReady, { onLine });
  }

  const kill = () => server[Symbol.asyncDispose]() as Promise<void>;

  await start();
  return {
    url: `redis://:${REDIS_PASSWORD}@127.0.0.1:${port}`,
    async command(name, ...commandArgs) {
      const redis = new Redis(port, '127.0.0.1', { password: REDIS_PASSWORD });
      try {
        return await redis.call(name, ...commandArgs);
      } finally {
        redis.disconnect();
      }
    },
    kill,
    start,
    signal: (signal) => server.signal(signal),
    async [Symbol.asyncDispose]() {
      await kill();
      await folder[Symbol.asyncDispose]();
    },
  };
}
