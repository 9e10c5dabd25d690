import { CUT_OFF_GRACE_MS, UNKNOWN_LIFE_MS } from '../order-records.ts';
import type { Refusal } from '../refusals.ts';
import type { FoundRecord } from './answers.ts';
import { FORGETFUL, script } from './script-head.ts';

/** A reservation cannot arrive this long after its release, because each proxy in between has dropped it by then. */
const RELEASED_MS = 3_600_000;

/** The beginning of the scripts that search for the record of a key. */
const FIND_HEAD = `
if isRenamed() then return {kind = 'renamed'} end
local found = foundRecord()
if found then return found end
local fault = keyFault()
`;

/** Makes room for the record, or returns why there is none. */
const ADD = `
if missingReplicas() then return missingReplicas() end
-- A refusal speaks of earlier orders, so it counts only once enough replicas of Redis agree. This write comes first: a Redis without free
-- memory refuses it, and the script ends. After a removal, Redis would accept all later writes.
touch()
local function oldest(set) return redis.call('ZRANGEBYSCORE', set, '(' .. earlierNow, '+inf', 'LIMIT', 0, 1)[1] end
local unsentCount, toRemove = countLive(accountKey('unsent', name)), nil
if given.isUnsent and unsentCount >= given.maxUnsent then return {kind = 'fullOfUnsent'} end
if countLive(accountKey('orders', name)) + unsentCount >= given.maxPerAccount then
  toRemove = oldest(accountKey('rejected', name))
  if not toRemove then return {kind = 'fullAccount'} end
elseif countLive(index) >= given.max then
  toRemove = oldest(rejected)
  if not toRemove then return {kind = 'full'} end
end
local judged = string.format('%d', math.max(given.judgedMs, markNumber('judged')))
redis.call('HSET', marker, 'accounts', given.accounts or '', 'judged', judged)
-- The removed order traded nothing, so a repeat may be sent. Keys that were made until the removal are refused.
if toRemove then
  redis.call('SET', accountKey('removed', toRemove), judged, 'PX', 2 * dayMs)
  removeRecord(toRemove)
end
-- An expired record of the key may still be there.
removeRecord(name)
`;

/** Refuses a reservation that arrives after its own release, or whose key an order may have used. */
export const RESERVE = script<FoundRecord | Refusal | { readonly kind: 'reserved' }>(`${FIND_HEAD}
if fault then return fault end
if redis.call('EXISTS', prefix .. 'released:' .. given.id) == 1 then return unusable('the reservation arrived after its release', true) end
if given.requiresAppendonly and not isDurable() then return unusable('${FORGETFUL}', true) end
${ADD}
writeRecord(now + given.pendingMs, 0, 'null')
addToSets(name, laterNow + ${UNKNOWN_LIFE_MS}, given.isUnsent)
redis.call('ZADD', pending, now + given.pendingMs, name)
return {kind = 'reserved'}
`);

/** Closes a key even if an order may have used it before. Then the answer is that the key is too old. */
export const VOID = script<FoundRecord | Refusal>(`${FIND_HEAD}
if fault and fault.kind ~= 'old' then return fault end
${ADD}
writeRecord(now, 2, given.outcome)
if fault then redis.call('HSET', prefix .. 'record:' .. name, 'doubtful', 1) end
addToSets(name, laterNow + dayMs, true)
return fault or liveRecord(name)
`);

/** That there is no record counts only once enough replicas of Redis agree: a primary that was cut off may lack it. */
export const FIND = script<FoundRecord | Refusal | { readonly kind: 'none' }>(`${FIND_HEAD}
if fault then return fault end
touch()
return {kind = 'none'}
`);

/** `hasChanged`: whether the order has changed its account, or may have. `isRejected`: whether the gateway rejected it. `isByHand`: whether an operator settles it. */
export const SETTLE = script<
  | Refusal
  | { readonly kind: 'written' | 'foreign' }
  | { readonly kind: 'kept'; readonly outcome: string }
>(`
local key = prefix .. 'record:' .. name
local record = readHash(key)
-- If a loss took the record, this process still knows the outcome and writes the record again.
if not record.id and not isCovered(given.madeMs) then
  writeRecord(now, 0, 'null')
  record = readHash(key)
end
touch()
if record.id ~= given.id then return {kind = 'foreign'} end
if given.rank <= tonumber(record.rank) then return {kind = 'kept', outcome = record.outcome} end
if given.isByHand and missingReplicas() then return missingReplicas() end
local ends = setOutcome(name, record.unsent == '1', given.rank, given.outcome)
if given.hasChanged then newVersion(name) end
if given.isRejected then
  redis.call('ZADD', rejected, ends, name)
  redis.call('ZADD', accountKey('rejected', name), ends, name)
end
return {kind = 'written'}
`);

export const RELEASE = script<{ readonly kind: 'released' }>(`
touch()
local record = readHash(prefix .. 'record:' .. name)
if record.id ~= given.id then
  -- The reservation may still arrive after this release, over a broken connection.
  redis.call('SET', prefix .. 'released:' .. given.id, 1, 'PX', ${RELEASED_MS})
elseif record.rank == '0' and not record.overdueRead and tonumber(record.deadline) > now then
  -- After the deadline, clients may have read that the outcome is unknown.
  removeRecord(name)
end
return {kind = 'released'}
`);

/** Marks orders whose process is gone as unknown, and returns their ids and times. */
export const CUT_OFF = script<{
  readonly kind: 'marked';
  readonly orders?: readonly { readonly id: string; readonly at: string }[];
}>(`
local orders = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', pending, '-inf', now - ${CUT_OFF_GRACE_MS}, 'LIMIT', 0, 100)) do
  local record = liveRecord(id)
  redis.call('ZREM', pending, id)
  if record and record.outcome == 'null' then
    setOutcome(id, record.unsent == '1', 1, '{"kind":"unknown","sentAtMs":' .. record.at .. ',"message":null}')
    orders[#orders + 1] = {id = id, at = record.at}
  end
end
return {kind = 'marked', orders = #orders > 0 and orders or nil} -- An empty table would become an object in JSON.
`);
