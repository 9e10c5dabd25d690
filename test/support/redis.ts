import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './free-ports.ts';

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
  const folder = await mkdtemp(join(tmpdir(), 'trading-graph-redis-'));
  const port = await freePort();
  const fixed = [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''],
    ...['--requirepass', REDIS_PASSWORD, '--masterauth', REDIS_PASSWORD],
  ];
  let server: ChildProcess | null = null;

  async function start() {
    const child = spawn(serverPath, [...fixed, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    server = child;
    await new Promise<void>((resolve, reject) => {
      child.once('exit', () => reject(new Error('redis-server ended before it was ready')));
      child.stdout?.on('data', (text) => {
        if (String(text).includes('Ready to accept connections')) resolve();
      });
    });
  }

  async function kill() {
    const child = server;
    server = null;
    if (!child || child.exitCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

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
    signal: (signal) => void server?.kill(signal),
    async [Symbol.asyncDispose]() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
