import type { RedisConnection } from './redis-connection.ts';

/** Names the settings of Redis that make it forget orders, as far as INFO shows them. */
export async function warnOfSettings(
  redis: RedisConnection,
  onWarn: (message: string) => void,
): Promise<void> {
  const memory = await redis.info('memory');
  const policy = memory && /maxmemory_policy:(\S+)/.exec(memory)?.[1];
  const limited = memory && !/maxmemory:0\r?\n/.test(memory);
  if (limited && policy && policy !== 'noeviction') {
    onWarn(`Redis has maxmemory-policy ${policy}: it may drop order records; set noeviction`);
  }
  const persistence = await redis.info('persistence');
  if (persistence && /aof_enabled:0/.test(persistence)) {
    onWarn(
      'Redis has appendonly no: order records live as long as it or the replica that made them',
    );
  }
}
