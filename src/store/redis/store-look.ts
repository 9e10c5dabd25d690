import { script } from './script-head.ts';

/** The state of the store. */
export interface StoreLook {
  readonly held: number;
  /** Whether a record can be removed to make room. */
  readonly hasRejected: boolean;
  readonly isHeld: boolean;
  readonly isIncomplete: boolean;
  /** The end of the latest gap, once it is fixed. */
  readonly lossUntilMs?: number;
  /** The number of Redis's replicas. */
  readonly connected: number;
  /** Whether a restart of Redis loses nothing. */
  readonly isDurable: boolean;
  /** The policy by which Redis may evict records. */
  readonly eviction?: string;
  /** Why Redis refuses writes. */
  readonly refusal?: string;
  /** Whether Redis was promoted and may still lack records. */
  readonly isUndecided: boolean;
  readonly isRenamed: boolean;
  readonly isNew: boolean;
  /** The remaining time for which a new store accepts no orders. */
  readonly youngMs: number;
}

/** Removes expired records, and answers the state of the store. */
export const LOOK = script<StoreLook & { readonly kind: 'seen' }>(`
for _, id in ipairs(redis.call('ZRANGEBYSCORE', index, '-inf', surely, 'LIMIT', 0, 1000)) do drop(id) end
local most = math.max(connected(2), copies)
if most > number('copies') then note('copies', most) end
if not isUndecided then
  note('at', now)
  if connected(2) > number('reach') then note('reach', connected(2)) end
end
-- A full or read-only Redis still answers reads.
local probe = redis.pcall('HSET', marker, 'touched', now)
local memory = redis.call('INFO', 'memory')
local policy, isBounded = string.match(memory, 'maxmemory_policy:(%S+)'), string.match(memory, 'maxmemory:(%d+)') ~= '0'
return {
  kind = 'seen',
  held = count(index),
  hasRejected = count(rejected) > 0,
  isHeld = mark.held == '1',
  isIncomplete = isIncomplete(),
  lossUntilMs = tonumber(mark.lossUntil),
  connected = connected(1000),
  isDurable = isDurable(),
  eviction = isBounded and policy ~= 'noeviction' and policy or nil,
  refusal = type(probe) == 'table' and probe.err or nil,
  isUndecided = isUndecided,
  isRenamed = isRenamed(),
  isNew = isNew,
  youngMs = math.max(0, number('since') + given.graceMs - now),
}
`);

export const UNDECIDED =
  'Redis was promoted, and too few of its replicas follow it to say that it has all orders';

export const FORGETFUL =
  'Redis has appendonly no, so that a restart would forget orders, which would then be sent again';

/** Describes which replicas of Redis are missing; null if none is. */
export function shortOf(connected: number, wanted: number): string | null {
  if (connected >= wanted) return null;
  return `${connected} of ${wanted} replicas of Redis are connected, and a failover would forget orders (REDIS_REPLICAS)`;
}
