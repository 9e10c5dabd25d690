import { LATE_ANSWER_MS } from '../settlement.ts';
import type { Held } from './answers.ts';
import { script } from './script-head.ts';

/** Reads the record of a key for an operator, even if other records may be missing. */
export const SHOW = script<Held | { readonly kind: 'none' | 'evicted' }>(
  `return taken(name) or {kind = 'none'}`,
);

/** The first settlement is kept. */
export const SETTLE_BY_HAND = script<
  | Held
  | { readonly kind: 'none' }
  | { readonly kind: 'evicted' }
  | { readonly kind: 'early'; readonly leftMs: number }
  | { readonly kind: 'copies'; readonly have: number; readonly wanted: number }
>(`
local found, key = taken(name), prefix .. 'record:' .. name
if not found or found.kind ~= 'held' then return found or {kind = 'none'} end
touch()
if found.rank == '2' then return found end
local left = found.deadline + ${LATE_ANSWER_MS} - now
if left > 0 then return {kind = 'early', leftMs = left} end
local have = connected(1000)
if have < wanted then return {kind = 'copies', have = have, wanted = wanted} end
redis.call('HSET', key, 'rank', 2, 'outcome', given.outcome)
redis.call('ZREM', pending, name)
put(name, later + dayMs, found.unsent == '1')
changed(name)
return taken(name)
`);

/**
 * `after`: the end of the last record of the page before; `most`: the page size; `prefix`: the prefix of the ids. Without
 * `last` there are no more pages.
 */
export const LIST = script<{
  readonly kind: 'found';
  readonly last?: string;
  readonly orders?: readonly { readonly id: string; readonly record: Held }[];
}>(`
local page = redis.call('ZRANGEBYSCORE', index, '(' .. given.after, '+inf', 'WITHSCORES', 'LIMIT', 0, given.most)
if #page == 0 then return {kind = 'found'} end
local last, orders = page[#page], {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', index, '(' .. given.after, last)) do
  local record = string.sub(id, 1, #given.prefix) == given.prefix and taken(id)
  if record and record.kind == 'held' then orders[#orders + 1] = {id = id, record = record} end
end
return {kind = 'found', last = last, orders = #orders > 0 and orders or nil}
`);

/** `isHeld`: whether no process may send an order. */
export const HOLD = script<{ readonly kind: 'declared' }>(`
touch()
note('held', given.isHeld and 1 or 0)
return {kind = 'declared'}
`);

/** An operator declares that records are missing. The present primary becomes the accepted one. */
export const DECLARE = script<{ readonly kind: 'declared' }>(`
touch()
adopt()
lose()
return {kind = 'declared'}
`);
