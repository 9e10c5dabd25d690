import { COMMON } from './scripts.ts';

/**
 * KEYS 5: a probe, since a Redis that is full or read-only still answers reads. Answers the state of the epoch, records, replicas that
 * have sent a heartbeat in the last seconds, the reason where Redis takes no writes, and how durable it is.
 */
export const STATUS = `${COMMON}
local state = current == '' and 'lost' or recovering() and 'recovering' or 'open'
local probe = redis.pcall('SET', KEYS[5], '1')
if not probe.err then redis.call('DEL', KEYS[5]) end
return {state, redis.call('ZCOUNT', index, '(' .. now, '+inf'),
  redis.call('ZCOUNT', members, now - 3000, '+inf'), probe.err or '', durable(), incomplete() and 1 or 0}
`;

/** ARGV: 2 where an operator says that records are missing, 0 where that none are. */
export const DECLARE = `${COMMON}
redis.call('HSET', marker, 'missing', ARGV[1], 'missingAt', now, 'late', 0)
if ARGV[1] == '0' then redis.call('ZREMRANGEBYSCORE', index, '-inf', now) end
return {'declared'}
`;

/** KEYS 5, 6: an account's records, which count for it no more; their keys stay used up. */
export const FREE = `
local freed = redis.call('ZCARD', KEYS[5]) + redis.call('ZCARD', KEYS[6])
redis.call('DEL', KEYS[5], KEYS[6])
return {'freed', freed}
`;
