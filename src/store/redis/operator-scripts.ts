import { LATE_ANSWER_MS } from '../settlement.ts';
import type { FoundRecord } from './answers.ts';
import { script } from './script-head.ts';

/** Reads the record of a key for an operator, even if other records may be missing. */
export const SHOW = script<FoundRecord | { readonly kind: 'none' | 'evicted' }>(
  `return liveRecord(name) or {kind = 'none'}`,
);

/** Settles an unknown order. A known outcome is kept, also one that an operator has settled. */
export const SETTLE_BY_HAND = script<
  | FoundRecord
  | { readonly kind: 'none' }
  | { readonly kind: 'evicted' }
  | { readonly kind: 'early'; readonly leftMs: number }
  | { readonly kind: 'tooFewReplicas'; readonly have: number; readonly wanted: number }
>(`
local found, key = liveRecord(name), prefix .. 'record:' .. name
if not found or found.kind ~= 'record' then return found or {kind = 'none'} end
touch()
if found.rank == '2' then return found end
local left = found.deadline + ${LATE_ANSWER_MS} - now
if left > 0 then return {kind = 'early', leftMs = left} end
local have = connected()
if have < wanted then return {kind = 'tooFewReplicas', have = have, wanted = wanted} end
redis.call('HSET', key, 'rank', 2, 'outcome', given.outcome)
redis.call('ZREM', pending, name)
redis.call('ZREM', unknown, name)
addToSets(name, laterNow + dayMs, found.unsent == '1')
newVersion(name)
return liveRecord(name)
`);

/**
 * Lists records in the order of their ends. `after`: `last` of the previous page; `prefix`: the prefix of the ids. Without
 * `last` there are no more pages.
 */
export const LIST = script<{
  readonly kind: 'found';
  readonly last?: string;
  readonly orders?: readonly { readonly id: string; readonly record: FoundRecord }[];
}>(`
local page = redis.call('ZRANGEBYSCORE', index, '(' .. given.after, '+inf', 'WITHSCORES', 'LIMIT', 0, given.pageSize)
if #page == 0 then return {kind = 'found'} end
local last, orders = page[#page], {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', index, '(' .. given.after, last)) do
  local record = string.sub(id, 1, #given.prefix) == given.prefix and liveRecord(id)
  if record and record.kind == 'record' then orders[#orders + 1] = {id = id, record = record} end
end
return {kind = 'found', last = last, orders = #orders > 0 and orders or nil} -- An empty table would become an object in JSON.
`);

/** Stops or resumes the sending of orders in every process. */
export const HOLD = script<{ readonly kind: 'declared' }>(`
touch()
setMark('held', given.isHeld and 1 or 0)
return {kind = 'declared'}
`);

/** Notes an operator's declaration that records are missing. */
export const DECLARE = script<{ readonly kind: 'declared' }>(`
touch()
noteLoss()
return {kind = 'declared'}
`);
