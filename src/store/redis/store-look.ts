import { RENAMED } from '../order-records.ts';
import type { RedisSettings } from './order-store.ts';
import { script } from './script-head.ts';

/** The state of the store. */
export interface StoreLook extends RedisSettings {
  readonly held: number;
  /** Whether a record may give way to another one. */
  readonly hasRejected: boolean;
  readonly isHeld: boolean;
  readonly isIncomplete: boolean;
  /** R of the newest loss, once it is fixed. */
  readonly lossUntilMs?: number;
  /** The number of Redis's replicas. */
  readonly connected: number;
  /** Why Redis takes no writes. */
  readonly refusal?: string;
  /** Whether Redis was promoted and may still lack records. */
  readonly isUndecided: boolean;
  readonly isRenamed: boolean;
  readonly isNew: boolean;
}

/** Removes what has ended, and answers the state of the store. `seen`: the most replicas of Redis that this process has seen. */
export const LOOK = script<StoreLook & { readonly kind: 'seen' }>(`
for _, id in ipairs(redis.call('ZRANGEBYSCORE', index, '-inf', surely, 'LIMIT', 0, 1000)) do drop(id) end
local most = math.max(connected(2), given.seen)
if most > number('copies') then note('copies', most) end
if not isUndecided then
  note('at', now)
  if connected(2) > number('reach') then note('reach', connected(2)) end
end
-- A full or read-only Redis still answers reads.
local probe = redis.pcall('HSET', marker, 'touched', now)
return {
  kind = 'seen',
  held = count(index),
  hasRejected = count(rejected) > 0,
  isHeld = mark.held == '1',
  isIncomplete = isIncomplete(),
  lossUntilMs = tonumber(mark.lossUntil),
  connected = connected(1000),
  isDurable = isDurable(),
  eviction = eviction(),
  refusal = type(probe) == 'table' and probe.err or nil,
  isUndecided = isUndecided,
  isRenamed = isRenamed(),
  isNew = isNew,
}
`);

export const UNDECIDED =
  'Redis was promoted, and too few of its replicas follow it to say that it has all orders';

export const FORGETFUL =
  'Redis has appendonly no, so that a restart would forget orders, which would then be sent again';

interface Requirements {
  readonly max: number;
  readonly requiresAppendonly: boolean;
}

/** Why no order is taken; null where orders are. */
export function refusalOf(look: StoreLook, needs: Requirements): string | null {
  if (look.refusal !== undefined) return `Redis refuses to write: ${look.refusal}`;
  if (look.isRenamed) return RENAMED;
  if (look.isUndecided) return UNDECIDED;
  if (needs.requiresAppendonly && !look.isDurable) return FORGETFUL;
  const isFull = look.held >= needs.max && !look.hasRejected;
  return isFull ? `all ${needs.max} order records are in use` : null;
}

/** Says which replicas of Redis are missing; null where none is. */
export function shortOf(connected: number, wanted: number): string | null {
  if (connected >= wanted) return null;
  return `${connected} of ${wanted} replicas of Redis are connected, and a failover would forget orders (REDIS_REPLICAS)`;
}
