import type { Refusal } from '../refusals.ts';
import type { FoundRecord } from './answers.ts';
import { script } from './script-head.ts';

/** Reads the record of a key for an operator, even if other records may be missing. */
export const SHOW = script<FoundRecord | Refusal | { readonly kind: 'none' }>(
  `return liveRecord(name) or {kind = 'none'}`,
);

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
