import { KEY_AHEAD_MS } from '../order-gap.ts';
import { KEY_LIFE_MS, UNKNOWN_LIFE_MS } from '../order-records.ts';
import { script } from './script-head.ts';

/** A request that arrives later than this behind its broken connection would have been given up by every proxy. */
const RELEASED_MS = 3_600_000;

/**
 * The two scripts that make a record. ARGV 9: its id by account and key, 10: the reservation, 11: the digest, 12: reserved at, 13: pending ms,
 * 14: what was asked, 15: the most records, 16: the most of an account, 17: 1 where it is of an order that is never sent, 18: when the key
 * was made, '' where that is not known, 19: how long a new store waits for processes that remember another one.
 */
const ADD_HEAD = `
if isRenamed() then return {'renamed'} end
local no, isUnsent, made = taken(name), ARGV[17] == '1', tonumber(ARGV[18])
-- A closed key is answered once the replicas of Redis have it.
if no and no[1] == 'held' and no[3] == '' then touch() end
if no then return no end
if now < number('since') + ARGV[19] then return {'young', number('since') + ARGV[19] - now} end
if undecided then return {'undecided', undecided} end
local removed = tonumber(redis.call('GET', ofAccount('removed', name)) or 0)
`;

const ADD = `
local have = ARGV[1] == '0' and 0 or connected(1000)
if have < 0 and ARGV[1] == '' or have >= 0 and have < wanted then return {'copies', have, wanted} end
local orders, unsent = ofAccount('orders', name), ofAccount('unsent', name)
local function held(set) return redis.call('ZCOUNT', set, '(' .. surely, '+inf') end
local function oldest(set) return redis.call('ZRANGEBYSCORE', set, '(' .. surely, '+inf', 'LIMIT', 0, 1)[1] end
local most, ofUnsent, victim = tonumber(ARGV[16]), held(unsent), nil
if isUnsent and ofUnsent >= math.ceil(most / 2) then return {'unsent'} end
if held(orders) + ofUnsent >= most then
  victim = oldest(ofAccount('rejected', name))
  if not victim then return {'account'} end
elseif held(index) >= tonumber(ARGV[15]) then
  victim = oldest(rejected)
  if not victim then return {'full'} end
end
-- The first write: a Redis without memory refuses it. After a removal it would let the script write on, past its memory.
redis.call('HSET', marker, 'at', now, 'accounts', ARGV[7], 'wanted', wanted, 'reach', math.max(have, number('reach')))
-- The order traded nothing, so its repeat may be sent. A repeat with keyMade is refused by the date of the removal.
if victim then
  local key = ofAccount('removed', victim)
  -- The clock of another process may have been ahead.
  redis.call('SET', key, math.max(ARGV[8], redis.call('GET', key) or 0), 'PX', 2 * dayMs)
  drop(victim)
end
drop(name)
local function record(rank, outcome, lifeMs)
  redis.call('HSET', prefix .. 'record:' .. name, 'id', ARGV[10], 'digest', ARGV[11], 'at', ARGV[12], 'deadline', now + ARGV[13], 'asked', ARGV[14],
    'unsent', ARGV[17], 'rank', rank, 'outcome', outcome)
  put(name, later + lifeMs, isUnsent)
  if rank == 0 then redis.call('ZADD', pending, now + ARGV[13], name) end
  if ARGV[6] ~= '' and tonumber(ARGV[6]) > number('apart') then note('apart', ARGV[6]) end
end
`;

export const RESERVE = script(`${ADD_HEAD}
if redis.call('EXISTS', prefix .. 'released:' .. ARGV[10]) == 1 then return {'released'} end
if isIncomplete() and not (made and mark.lossUntil and made > tonumber(mark.lossUntil) + ${KEY_AHEAD_MS}) then return missing() end
if made and (made <= removed or ARGV[8] - made > math.min(now - number('since'), ${KEY_LIFE_MS})) then return {'forgotten'} end
${ADD}
record(0, 'null', ${UNKNOWN_LIFE_MS})
return {'reserved'}
`);

/** ARGV 20: the outcome, which lacks how far back the store remembers. */
export const VOID = script(`${ADD_HEAD}${ADD}
local known = now - number('since')
if isIncomplete() then known = ARGV[8] - (tonumber(mark.lossUntil) or ARGV[8]) - ${KEY_AHEAD_MS} end
-- The age of the key is of the moment when its client asked.
local waited = math.max(0, ARGV[8] - ARGV[12])
local remembered = math.max(0, math.min(dayMs, known, ARGV[8] - removed) - waited)
record(2, string.gsub(ARGV[20], '"rememberedMs":0', string.format('"rememberedMs":%d', remembered)), dayMs)
return taken(name)
`);

export const FIND = script(`
if isRenamed() then return {'renamed'} end
local found = taken(name)
if found and found[3] == '' then touch() end
return found or undecided and {'undecided', undecided} or isIncomplete() and missing() or {'none'}
`);

/**
 * ARGV 10: the reservation, 11: rank, 12: the outcome, 13: \`changed\` where the order has changed its account, or may have, \`rejected\` where
 * the gateway refused it, or '', 14: when it was sent, 15: answered ('' each where it was not), then what the store lacks after a loss:
 * 16: the digest, 17: reserved at, 18: what was asked, 19: 1 where it is of an order that is never sent.
 */
export const SETTLE = script(`
local key, rank = prefix .. 'record:' .. name, tonumber(ARGV[11])
local r = redis.call('HMGET', key, 'id', 'rank', 'outcome', 'unsent')
-- A loss took the record: its process still knows what became of the order.
if not r[1] and isIncomplete() then
  redis.call('HSET', key, 'id', ARGV[10], 'digest', ARGV[16], 'at', ARGV[17], 'deadline', now, 'asked', ARGV[18], 'unsent', ARGV[19], 'rank', 0, 'outcome', 'null')
  r = {ARGV[10], 0, 'null', ARGV[19]}
end
touch()
if not r[1] and undecided then return {'undecided', undecided} end
if r[1] ~= ARGV[10] then return {'foreign'} end
-- A text's own quotes are escaped.
if string.find(r[3], '"settled":{', 1, true) then return {'settled', r[3]} end
if rank <= tonumber(r[2]) then return {'written'} end
redis.call('HSET', key, 'rank', rank, 'outcome', ARGV[12])
if ARGV[14] ~= '' then redis.call('HSET', key, 'sent', ARGV[14]) end
if ARGV[15] ~= '' then redis.call('HSET', key, 'answered', ARGV[15]) end
redis.call('ZREM', pending, name)
local ends = later + (rank == 2 and dayMs or ${UNKNOWN_LIFE_MS})
put(name, ends, r[4] == '1')
if ARGV[13] == 'changed' then changed(name) end
if ARGV[13] == 'rejected' then
  redis.call('ZADD', rejected, ends, name)
  redis.call('ZADD', ofAccount('rejected', name), ends, name)
end
return {'written'}
`);

/** ARGV 10: the reservation. */
export const RELEASE = script(`
touch()
local r = redis.call('HMGET', prefix .. 'record:' .. name, 'id', 'rank', 'deadline', 'told')
if r[1] ~= ARGV[10] then
  -- Its reservation may still be on the way, over a connection that broke.
  redis.call('SET', prefix .. 'released:' .. ARGV[10], 1, 'PX', ${RELEASED_MS})
  return {'released'}
end
if r[2] == '2' then return {'released'} end
-- Clients may have been told that it is unknown.
if r[2] == '1' or r[4] or tonumber(r[3]) <= now then return {'late'} end
drop(name)
return {'released'}
`);

/** ARGV 9: how long past its deadline an order is left to its process. Answers id and time of each that is marked as unknown. */
export const CUT_OFF = script(`
local found = {'marked'}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', pending, '-inf', now - ARGV[9], 'LIMIT', 0, 100)) do
  local held = taken(id)
  redis.call('ZREM', pending, id)
  if held and held[1] == 'held' and held[6] == 'null' then
    redis.call('HSET', prefix .. 'record:' .. id, 'rank', 1, 'outcome', '{"kind":"unknown","sentAtMs":' .. held[4] .. ',"message":null}')
    found[#found + 1], found[#found + 2] = id, held[4]
  end
end
return found
`);

/**
 * Removes what has ended, and answers the state of the store. ARGV 9: 1 to write a probe, since a full or read-only Redis answers reads;
 * 10: the most replicas of Redis that this process has seen.
 */
export const LOOK = script(`
for _, id in ipairs(redis.call('ZRANGEBYSCORE', index, '-inf', surely, 'LIMIT', 0, 1000)) do drop(id) end
local have = connected(2)
local most = math.max(have, tonumber(ARGV[10]))
if most > number('copies') then note('copies', most) end
if not undecided then
  note('at', now)
  if have > number('reach') then note('reach', have) end
end
local probe = ARGV[9] == '1' and redis.pcall('HSET', marker, 'touched', now) or {}
local function count(set) return redis.call('ZCOUNT', set, '(' .. surely, '+inf') end
return {'seen', cjson.encode({
  held = count(index),
  hasRejected = count(rejected) > 0,
  isHeld = mark.held == '1',
  isIncomplete = isIncomplete(),
  lossUntilMs = tonumber(mark.lossUntil) or cjson.null,
  connected = connected(1000),
  durable = durable(),
  eviction = eviction() or cjson.null,
  refusal = type(probe) == 'table' and probe.err or cjson.null,
  isUndecided = undecided ~= nil,
  isRenamed = isRenamed() or false,
  isNew = isNew,
})}
`);

/** KEYS 1: the marker, then versions of accounts. Answers the run of Redis and the store, then each version. */
export const VERSIONS = `
local replication = redis.pcall('INFO', 'replication')
if type(replication) == 'string' and string.find(replication, 'role:slave', 1, true) then
  return redis.error_reply('READONLY it is a replica of Redis')
end
local info = redis.pcall('INFO', 'server')
local run = type(info) == 'string' and string.match(info, 'run_id:(%x+)') or ''
local answer = {run .. ' ' .. (redis.call('HGET', KEYS[1], 'id') or '')}
for i = 2, #KEYS do answer[i] = redis.call('GET', KEYS[i]) or '' end
return answer
`;
