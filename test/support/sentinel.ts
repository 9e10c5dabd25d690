import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './free-ports.ts';
import { temporaryFolder } from './own-folder.ts';
import { REDIS_PASSWORD, startTestRedis } from './redis.ts';
import { startProgram } from './started-program.ts';

export const SENTINEL_PASSWORD = 'watch';

/** A primary by the name of `orders`, its replica, and a Sentinel that promotes that; with passwords. */
export async function startWatchedRedis(serverPath: string) {
  await using started = new AsyncDisposableStack();
  // Without the delay, in which more replicas could come, the first copy is made at once.
  const args = ['--repl-diskless-sync-delay', '0'];
  const primary = started.use(await startTestRedis(serverPath, { args }));
  const port = new URL(primary.url).port;
  const ofReplica = { args: [...args, '--replicaof', `127.0.0.1 ${port}`] };
  const replica = started.use(await startTestRedis(serverPath, ofReplica));
  const sentinelPort = await freePort();
  const folder = started.use(await temporaryFolder());
  const configuration = join(folder.path, 'sentinel.conf');
  await writeFile(
    configuration,
    `port ${sentinelPort}
bind 127.0.0.1
dir ${folder.path}
requirepass ${SENTINEL_PASSWORD}
sentinel monitor orders 127.0.0.1 ${port} 1
sentinel auth-pass orders ${REDIS_PASSWORD}
sentinel down-after-milliseconds orders 1000
`,
  );
  const isWatching = async () => {
    const redis = new Redis(sentinelPort, '127.0.0.1', { password: SENTINEL_PASSWORD });
    redis.on('error', () => {});
    try {
      const known = (await redis.call('SENTINEL', 'replicas', 'orders')) as unknown[];
      const isLinked = (one: unknown) => /master-link-status"[:,]"ok"/.test(JSON.stringify(one));
      return known.length === 1 && known.every(isLinked);
    } finally {
      redis.disconnect();
    }
  };
  started.use(await startProgram(serverPath, [configuration, '--sentinel'], isWatching));
  const owned = started.move();
  return {
    /** Host and port of the Sentinel. */
    address: `127.0.0.1:${sentinelPort}`,
    primary,
    replica,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
