import { script } from './script-head.ts';

/** Reads the record of a key for an operator, also while other records may be missing. */
export const SHOW = script(`return taken(name) or {'none'}`);

/** ARGV 10: the outcome, 11: how long past its deadline an answer may come. The first word of an operator counts. */
export const SETTLE_BY_HAND = script(`
local held, key = taken(name), prefix .. 'record:' .. name
if not held or held[1] ~= 'held' then return held or {'none'} end
touch()
local r = redis.call('HMGET', key, 'rank', 'deadline', 'unsent')
if r[1] == '2' then return held end
local left = tonumber(r[2]) + ARGV[11] - now
if left > 0 then return {'early', left} end
local have = ARGV[1] == '0' and 0 or connected(1000)
if have >= 0 and have < wanted then return {'copies', have, wanted} end
redis.call('HSET', key, 'rank', 2, 'outcome', ARGV[10])
redis.call('ZREM', pending, name)
put(name, later + dayMs, r[3] == '1')
changed(name)
held[1], held[6] = 'settled', ARGV[10]
return held
`);

/** ARGV 9: the end behind which to look, 10: how many to look at, 11: what their ids begin with, 12: 1 where the unknown alone are asked for. */
export const LIST = script(`
local found = {'found', ''}
local page = redis.call('ZRANGEBYSCORE', index, '(' .. ARGV[9], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[10])
if #page > 0 then
  found[2] = page[#page]
  page = redis.call('ZRANGEBYSCORE', index, '(' .. ARGV[9], found[2])
end
for _, id in ipairs(page) do
  local held = string.sub(id, 1, #ARGV[11]) == ARGV[11] and taken(id)
  if held and held[1] == 'held' then
    local isUnknown = held[6] == 'null' and held[5] == 0 or string.sub(held[6], 1, 17) == '{"kind":"unknown"'
    if isUnknown or ARGV[12] == '0' then
      held[1] = id
      for n = 1, #held do found[#found + 1] = held[n] end
    end
  end
end
return found
`);

/** ARGV 9: 1 where no process may send an order, else 0. */
export const HOLD = script(`
touch()
note('held', ARGV[9])
return {'declared'}
`);

/** An operator's word that records are missing: the primary as it is now is the one that counts. */
export const DECLARE = script(`
touch()
adopt(math.max(0, connected(2)))
lose()
return {'declared'}
`);
