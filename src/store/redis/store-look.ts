import { script } from './script-head.ts';

/** The state of the store that one look has found. */
export interface StoreLook {
  readonly records: number;
  /** How many orders have an unknown outcome that nobody has settled. */
  readonly unsettled: number;
  /** Whether a record can be removed to make room. */
  readonly hasRejected: boolean;
  /** Whether an operator holds orders back. */
  readonly isHeld: boolean;
  /** Unknown keys that were made until then are refused; absent after a loss until it is decided. */
  readonly sinceMs?: number;
  /** Says that replicas of Redis are missing. */
  readonly missing?: string;
  /** Whether a restart of Redis loses nothing. */
  readonly isDurable: boolean;
  /** The policy by which Redis may evict records. */
  readonly eviction?: string;
  /** Why Redis refuses writes. */
  readonly refusal?: string;
  readonly isRenamed: boolean;
}

/** Removes expired records, and returns the state of the store. */
export const LOOK = script<StoreLook & { readonly kind: 'seen' }>(`
for _, id in ipairs(redis.call('ZRANGEBYSCORE', index, '-inf', earlierNow, 'LIMIT', 0, 1000)) do removeRecord(id) end
local mostSeen = math.max(connected(), given.knownCopies)
if mostSeen > markNumber('copies') then setMark('copies', mostSeen) end
-- A full or read-only Redis still answers reads, so only a write shows whether it refuses writes.
local probe = redis.pcall('HSET', marker, 'touched', now)
isWrite = true
local memory = redis.call('INFO', 'memory')
local policy, isBounded = string.match(memory, 'maxmemory_policy:(%S+)'), string.match(memory, 'maxmemory:(%d+)') ~= '0'
return {
  kind = 'seen',
  records = countLive(index),
  unsettled = countLive(unknown),
  hasRejected = countLive(rejected) > 0,
  isHeld = mark.held == '1',
  sinceMs = tonumber(mark.since),
  missing = (missingReplicas() or {}).message,
  isDurable = isDurable(),
  eviction = isBounded and policy ~= 'noeviction' and policy or nil,
  refusal = type(probe) == 'table' and probe.err or nil,
  isRenamed = isRenamed(),
}
`);
