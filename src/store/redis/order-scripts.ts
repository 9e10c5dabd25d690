import { KEY_AHEAD_MS } from '../order-gap.ts';
import { CUT_OFF_GRACE_MS, KEY_LIFE_MS, UNKNOWN_LIFE_MS } from '../order-records.ts';
import type { Held, Refusal } from './answers.ts';
import { script } from './script-head.ts';

/** Every proxy would have given up a request that arrives later than this over a broken connection. */
const RELEASED_MS = 3_600_000;

/** The head of the two scripts that make a record. */
const ADD_HEAD = `
if isRenamed() then return {kind = 'renamed'} end
local found = taken(name)
-- A closed key may only be answered once the replicas of Redis have it.
if found and found.digest == '' then touch() end
if found then return found end
if now < number('since') + given.graceMs then return {kind = 'young'} end
if isUndecided then return {kind = 'undecided'} end
local removed = tonumber(redis.call('GET', ofAccount('removed', name)) or 0)
`;

const ADD = `
local have = connected(1000)
if have < wanted then return {kind = 'copies', have = have, wanted = wanted} end
local function oldest(set) return redis.call('ZRANGEBYSCORE', set, '(' .. surely, '+inf', 'LIMIT', 0, 1)[1] end
local unsent, victim = count(ofAccount('unsent', name)), nil
if given.isUnsent and unsent >= given.maxUnsent then return {kind = 'fullOfUnsent'} end
if count(ofAccount('orders', name)) + unsent >= given.maxPerAccount then
  victim = oldest(ofAccount('rejected', name))
  if not victim then return {kind = 'fullAccount'} end
elseif count(index) >= given.max then
  victim = oldest(rejected)
  if not victim then return {kind = 'full'} end
end
-- This write comes first, because a Redis without memory refuses it. After a removal Redis would allow further writes beyond its memory.
redis.call('HSET', marker, 'at', now, 'accounts', given.accounts or '', 'wanted', wanted, 'reach', math.max(have, number('reach')))
isWrite = true
-- The order traded nothing, so its repeat may be sent. A repeat with keyMade is refused by the date of the removal.
if victim then
  local key = ofAccount('removed', victim)
  -- The clock of another process may have been ahead.
  redis.call('SET', key, math.max(given.judgedMs, redis.call('GET', key) or 0), 'PX', 2 * dayMs)
  drop(victim)
end
-- An expired record of the key may still be there.
drop(name)
`;

/** `id`: the reservation. `keyMadeMs`: when the key was made, if that is known. */
export const RESERVE = script<Held | Refusal | { readonly kind: 'reserved' }>(`${ADD_HEAD}
if redis.call('EXISTS', prefix .. 'released:' .. given.id) == 1 then return {kind = 'released'} end
local made = given.keyMadeMs
if isIncomplete() and not (made and mark.lossUntil and made > mark.lossUntil + ${KEY_AHEAD_MS}) then return missing() end
if made and (made <= removed or given.judgedMs - made > math.min(now - number('since'), ${KEY_LIFE_MS})) then return {kind = 'forgotten'} end
if given.requiresAppendonly and not isDurable() then return {kind = 'forgetful'} end
${ADD}
write(now + given.pendingMs, 0, 'null')
put(name, later + ${UNKNOWN_LIFE_MS}, given.isUnsent)
redis.call('ZADD', pending, now + given.pendingMs, name)
if given.differMs and given.differMs > number('apart') then note('apart', given.differMs) end
return {kind = 'reserved'}
`);

/** The script adds to `outcome` how far back the records reach. */
export const VOID = script<Held | Refusal>(`${ADD_HEAD}${ADD}
local known = now - number('since')
if isIncomplete() then known = given.judgedMs - (mark.lossUntil or given.judgedMs) - ${KEY_AHEAD_MS} end
-- The age of the key refers to the moment of the request.
local waited = math.max(0, given.judgedMs - given.reservedAtMs)
local remembered = math.max(0, math.min(dayMs, known, given.judgedMs - removed) - waited)
write(now, 2, string.gsub(given.outcome, '"rememberedMs":0', string.format('"rememberedMs":%d', remembered)))
put(name, later + dayMs, true)
return taken(name)
`);

export const FIND = script<Held | Refusal | { readonly kind: 'none' }>(`
if isRenamed() then return {kind = 'renamed'} end
local found = taken(name)
if found and found.digest == '' then touch() end
return found or isUndecided and {kind = 'undecided'} or isIncomplete() and missing() or {kind = 'none'}
`);

/**
 * `hasChanged`: whether the order has changed its account, or may have. `isRejected`: whether the gateway rejected it.
 * `sentAtMs` and `answeredAtMs` are absent if they are unknown.
 */
export const SETTLE = script<
  | { readonly kind: 'written' | 'foreign' | 'undecided' }
  | { readonly kind: 'kept'; readonly outcome: string }
>(`
local key = prefix .. 'record:' .. name
local record = hash(key)
-- The record was lost, but its process still knows the outcome.
if not record.id and isIncomplete() then
  write(now, 0, 'null')
  record = hash(key)
end
if not record.id and isUndecided then return {kind = 'undecided'} end
touch()
if record.id ~= given.id then return {kind = 'foreign'} end
if given.rank <= tonumber(record.rank) then return {kind = 'kept', outcome = record.outcome} end
redis.call('HSET', key, 'rank', given.rank, 'outcome', given.outcome)
if given.sentAtMs then redis.call('HSET', key, 'sent', given.sentAtMs) end
if given.answeredAtMs then redis.call('HSET', key, 'answered', given.answeredAtMs) end
redis.call('ZREM', pending, name)
local ends = later + (given.rank == 2 and dayMs or ${UNKNOWN_LIFE_MS})
put(name, ends, record.unsent == '1')
if given.hasChanged then changed(name) end
if given.isRejected then
  redis.call('ZADD', rejected, ends, name)
  redis.call('ZADD', ofAccount('rejected', name), ends, name)
end
return {kind = 'written'}
`);

export const RELEASE = script<{ readonly kind: 'released' }>(`
touch()
local record = hash(prefix .. 'record:' .. name)
if record.id ~= given.id then
  -- Its reservation may still arrive, over a broken connection.
  redis.call('SET', prefix .. 'released:' .. given.id, 1, 'PX', ${RELEASED_MS})
elseif record.rank == '0' and not record.overdueRead and tonumber(record.deadline) > now then
  -- After the deadline, clients may have read that the outcome is unknown.
  drop(name)
end
return {kind = 'released'}
`);

/** Answers the id and time of each order that it marks as unknown. */
export const CUT_OFF = script<{
  readonly kind: 'marked';
  readonly orders?: readonly { readonly id: string; readonly at: string }[];
}>(`
local orders = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', pending, '-inf', now - ${CUT_OFF_GRACE_MS}, 'LIMIT', 0, 100)) do
  local record = taken(id)
  redis.call('ZREM', pending, id)
  if record and record.outcome == 'null' then
    local outcome = '{"kind":"unknown","sentAtMs":' .. record.at .. ',"message":null}'
    redis.call('HSET', prefix .. 'record:' .. id, 'rank', 1, 'outcome', outcome)
    orders[#orders + 1] = {id = id, at = record.at}
  end
end
return {kind = 'marked', orders = #orders > 0 and orders or nil}
`);
