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
  readonly isIncomplete: boolean;
  /** The end of the latest gap; absent until it is decided. */
  readonly lossUntilMs?: number;
  /** The number of connected replicas of Redis. */
  readonly connected: number;
  /** Whether a restart of Redis loses nothing. */
  readonly isDurable: boolean;
  /** The policy by which Redis may evict records. */
  readonly eviction?: string;
  /** Why Redis refuses writes. */
  readonly refusal?: string;
  /** Whether a replica of Redis was promoted and may lack records. */
  readonly isUndecided: boolean;
  readonly isRenamed: boolean;
  readonly isNew: boolean;
  /** How much longer a new store accepts no orders. */
  readonly youngMs: number;
}

/** Removes expired records, and returns the state of the store. */
export const LOOK = script<StoreLook & { readonly kind: 'seen' }>(`
for _, id in ipairs(redis.call('ZRANGEBYSCORE', index, '-inf', earlierNow, 'LIMIT', 0, 1000)) do removeRecord(id) end
local mostSeen = math.max(acknowledging(), mostReplicas)
if mostSeen > markNumber('copies') then setMark('copies', mostSeen) end
if not isUndecided then
  setMark('at', now)
  if acknowledging() > markNumber('reach') then setMark('reach', acknowledging()) end
end
-- A full or read-only Redis still answers reads, so only a write shows whether it refuses writes.
local probe = redis.pcall('HSET', marker, 'touched', now)
local memory = redis.call('INFO', 'memory')
local policy, isBounded = string.match(memory, 'maxmemory_policy:(%S+)'), string.match(memory, 'maxmemory:(%d+)') ~= '0'
return {
  kind = 'seen',
  records = countLive(index),
  unsettled = countLive(unknown),
  hasRejected = countLive(rejected) > 0,
  isHeld = mark.held == '1',
  isIncomplete = isIncomplete(),
  lossUntilMs = tonumber(mark.lossUntil),
  connected = connected(),
  isDurable = isDurable(),
  eviction = isBounded and policy ~= 'noeviction' and policy or nil,
  refusal = type(probe) == 'table' and probe.err or nil,
  isUndecided = isUndecided,
  isRenamed = isRenamed(),
  isNew = isNew,
  youngMs = math.max(0, markNumber('since') + given.graceMs - now),
}
`);

export const UNDECIDED = 'Redis was promoted, and may lack orders until more replicas follow it';

export const FORGETFUL =
  'Redis has appendonly no: a restart would forget orders, which could then be sent again';

/** Says that replicas of Redis are missing; null if there are enough. */
export function missingReplicas(connected: number, wanted: number): string | null {
  if (connected >= wanted) return null;
  return `${connected} of ${wanted} replicas of Redis are connected, and a failover would forget orders (REDIS_REPLICAS)`;
}
