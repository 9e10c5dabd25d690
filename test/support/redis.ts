import { Redis } from 'ioredis';
import { freePort } from './free-ports.ts';
import { temporaryFolder } from './own-folder.ts';
import { type Program, startProgram } from './started-program.ts';

/** A Redis that restarts on the same port, with the data in its folder. After SIGSTOP it answers no client until SIGCONT. */
export interface TestRedis extends Program {
  readonly url: string;
  /** Runs one command on a new connection. */
  command(name: string, ...args: (string | number)[]): Promise<unknown>;
}

/** The password of every test's Redis, which no log may contain. */
export const REDIS_PASSWORD = 'canary-of-redis';

/** Starts a redis-server for this test alone. Without arguments such as `--appendonly yes` it loses its data at a restart. */
export async function startTestRedis(
  serverPath: string,
  { args = [] }: { readonly args?: readonly string[] } = {},
): Promise<TestRedis> {
  const folder = await temporaryFolder();
  const port = await freePort();
  const all = [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder.path, '--save', ''],
    ...['--requirepass', REDIS_PASSWORD, '--masterauth', REDIS_PASSWORD],
    ...args,
  ];
  const isReady = (lines: readonly string[]) =>
    lines.some((line) => line.includes('Ready to accept connections'));
  const server = await startProgram(serverPath, all, isReady);
  return {
    ...server,
    url: `redis://:${REDIS_PASSWORD}@127.0.0.1:${port}`,
    async command(name, ...commandArgs) {
      const redis = new Redis(port, '127.0.0.1', { password: REDIS_PASSWORD });
      try {
        return await redis.call(name, ...commandArgs);
      } finally {
        redis.disconnect();
      }
    },
    async [Symbol.asyncDispose]() {
      await server.kill();
      await folder[Symbol.asyncDispose]();
    },
  };
}
