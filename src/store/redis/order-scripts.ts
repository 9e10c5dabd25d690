import { KEY_AHEAD_MS } from '../order-gap.ts';
import { CUT_OFF_GRACE_MS, KEY_LIFE_MS, UNKNOWN_LIFE_MS } from '../order-records.ts';
import type { FoundRecord, Refusal } from './answers.ts';
import { script } from './script-head.ts';

/** A reservation cannot arrive this long after its release, because each proxy in between has dropped it by then. */
const RELEASED_MS = 3_600_000;

/** The beginning of the two scripts that make a record. */
const ADD_HEAD = `
if isRenamed() then return {kind = 'renamed'} end
local found = liveRecord(name)
-- An empty digest means that the key is closed. This answer counts only once enough replicas have the record, so touch() makes a write that they can confirm.
if found and found.digest == '' then touch() end
if found then return found end
if now < markNumber('since') + given.graceMs then return {kind = 'young'} end
if isUndecided then return {kind = 'undecided'} end
local removedAt = tonumber(redis.call('GET', accountKey('removed', name)) or 0)
`;

/** Makes room for the record, or returns why there is none. */
const ADD = `
local have = connected()
if have < wanted then return {kind = 'tooFewReplicas', have = have, wanted = wanted} end
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
-- This write comes first: a Redis without free memory refuses it, and the script ends. After a removal, Redis would accept all later writes.
redis.call('HSET', marker, 'at', now, 'accounts', given.accounts or '', 'wanted', wanted, 'reach', math.max(have, markNumber('reach')))
isWrite = true
-- The removed order traded nothing, so a repeat may be sent. If the repeat states keyMade, the date of the removal refuses it.
if toRemove then
  local key = accountKey('removed', toRemove)
  -- The clock of another process may have been ahead, so the later date is kept.
  redis.call('SET', key, math.max(given.judgedMs, redis.call('GET', key) or 0), 'PX', 2 * dayMs)
  removeRecord(toRemove)
end
-- An expired record of the key may still be there.
removeRecord(name)
`;

/** Refuses a reservation that arrives after its own release, or whose key the records may have forgotten. */
export const RESERVE = script<FoundRecord | Refusal | { readonly kind: 'reserved' }>(`${ADD_HEAD}
if redis.call('EXISTS', prefix .. 'released:' .. given.id) == 1 then return {kind = 'released'} end
local made = given.keyMadeMs
-- While records may be lost, only a key that was certainly made after the gap can be new.
local isMadeAfterGap = made and mark.lossUntil and made > mark.lossUntil + ${KEY_AHEAD_MS}
if isIncomplete() and not isMadeAfterGap then return gapAnswer() end
-- The records may have forgotten a key that is older than the last removal, the store itself, or the life of a key.
local knownMs = math.min(now - markNumber('since'), ${KEY_LIFE_MS})
if made and (made <= removedAt or given.judgedMs - made > knownMs) then return {kind = 'forgotten'} end
if given.requiresAppendonly and not isDurable() then return {kind = 'forgetful'} end
${ADD}
writeRecord(now + given.pendingMs, 0, 'null')
addToSets(name, laterNow + ${UNKNOWN_LIFE_MS}, given.isUnsent)
redis.call('ZADD', pending, now + given.pendingMs, name)
if given.differMs and given.differMs > markNumber('apart') then setMark('apart', given.differMs) end
return {kind = 'reserved'}
`);

/** Writes into the `rememberedMs` of the outcome how far back the records reach. */
export const VOID = script<FoundRecord | Refusal>(`${ADD_HEAD}${ADD}
-- Each difference is between dates of like clocks: "since" is by Redis's clock, the other dates are by clocks of processes.
local known = now - markNumber('since')
if isIncomplete() then known = given.judgedMs - (mark.lossUntil or given.judgedMs) - ${KEY_AHEAD_MS} end
-- The client states the age of its key at the time of its request, so the time since the request is subtracted.
local waited = math.max(0, given.judgedMs - given.reservedAtMs)
local remembered = math.max(0, math.min(dayMs, known, given.judgedMs - removedAt) - waited)
writeRecord(now, 2, string.gsub(given.outcome, '"rememberedMs":0', string.format('"rememberedMs":%d', remembered)))
addToSets(name, laterNow + dayMs, true)
return liveRecord(name)
`);

export const FIND = script<FoundRecord | Refusal | { readonly kind: 'none' }>(`
if isRenamed() then return {kind = 'renamed'} end
local found = liveRecord(name)
if found and found.digest == '' then touch() end -- The key is closed, as in ADD_HEAD.
-- The first of these that applies is the answer.
return found or isUndecided and {kind = 'undecided'} or isIncomplete() and gapAnswer() or {kind = 'none'}
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
local record = readHash(key)
-- If the record was lost, this process still knows the outcome and writes the record again.
if not record.id and isIncomplete() then
  writeRecord(now, 0, 'null')
  record = readHash(key)
end
if not record.id and isUndecided then return {kind = 'undecided'} end
touch()
if record.id ~= given.id then return {kind = 'foreign'} end
if given.rank <= tonumber(record.rank) then return {kind = 'kept', outcome = record.outcome} end
redis.call('HSET', key, 'rank', given.rank, 'outcome', given.outcome)
if given.sentAtMs then redis.call('HSET', key, 'sent', given.sentAtMs) end
if given.answeredAtMs then redis.call('HSET', key, 'answered', given.answeredAtMs) end
redis.call('ZREM', pending, name)
local ends = laterNow + (given.rank == 2 and dayMs or ${UNKNOWN_LIFE_MS})
addToSets(name, ends, record.unsent == '1')
if given.rank == 1 then redis.call('ZADD', unknown, ends, name) else redis.call('ZREM', unknown, name) end
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
    local outcome = '{"kind":"unknown","sentAtMs":' .. record.at .. ',"message":null}'
    redis.call('HSET', prefix .. 'record:' .. id, 'rank', 1, 'outcome', outcome)
    redis.call('ZADD', unknown, redis.call('ZSCORE', index, id), id)
    orders[#orders + 1] = {id = id, at = record.at}
  end
end
return {kind = 'marked', orders = #orders > 0 and orders or nil} -- An empty table would become an object in JSON.
`);
