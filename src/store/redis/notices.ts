import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../lib/clock.ts';
import { fireAndForget } from '../../../lib/fire-and-forget.ts';
import type { Notices } from '../shared-store.ts';
import type { RedisConnection } from './connection.ts';

// A replica that was away for longer reads everything anew.
const KEPT_MS = 30_000;
const MAX_KEPT = 200;
const LOOK_MS = 500;

/** The score is a time that grows with each notice, though the clock was set back. */
const PUBLISH = `
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2] or 0
local clock = redis.call('TIME')
local now = math.max(clock[1] * 1000 + math.floor(clock[2] / 1000), last + 1)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
for _, old in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1 - ARGV[3])) do
  redis.call('ZREM', KEYS[1], old)
end
redis.call('EXPIRE', KEYS[1], math.ceil(ARGV[2] / 500))
`;
const LOOK = `
local notices = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[1], '+inf')
table.insert(notices, 1, redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2] or '0')
return notices
`;

/** The other replicas look twice a second, so that a connection that breaks loses no notice. */
export function createRedisNotices(
  redis: RedisConnection,
  prefix: string,
  clock: Clock,
): Notices & { close(): void } {
  const key = `${prefix}notices`;
  const own = randomUUID();
  let seen = '+inf';
  let isOver = false;

  async function look(listener: (notice: unknown) => void): Promise<void> {
    const [latest, ...notices] = (await redis.run(LOOK, [key], [seen])) as string[];
    seen = String(latest);
    for (const text of notices) {
      const { from, notice } = JSON.parse(text);
      // One of another version that is not understood must not keep the others from being delivered.
      if (from !== own) fireAndForget('redis', Promise.resolve(notice).then(listener));
    }
  }

  return {
    publish(notice) {
      const text = JSON.stringify({ from: own, id: randomUUID(), notice });
      const published = redis.run(PUBLISH, [key], [text, KEPT_MS, MAX_KEPT]);
      return published.then(
        () => true,
        () => false,
      );
    },
    subscribe(listener) {
      const next = () => {
        if (isOver) return;
        // Redis' own trouble is told where it is met.
        look(listener)
          .catch(() => {})
          .finally(() => clock.after(LOOK_MS, next));
      };
      next();
    },
    close() {
      isOver = true;
    },
  };
}
