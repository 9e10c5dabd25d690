import { CLOCKS_DIFFER_MS, KEY_AHEAD_MS } from '../order-gap.ts';
import { KEY_LIFE_MS, RECORD_LIFE_MS, UNKNOWN_LIFE_MS } from '../order-records.ts';

/** A request that arrives later than this behind its broken connection would have been given up by every proxy. */
const RELEASED_MS = 3_600_000;

/**
 * The scripts of the order records. Each runs as one step. KEYS has the marker, whose name begins those of all other keys. ARGV begins
 * with the eight arguments of `OrderStore`; of an operator, who begins no store, the last is empty. Each answers with the store's id, the name of its
 * newest loss, how many replicas of Redis must have what it wrote, and its own answer, which begins with a word.
 *
 * The marker is a hash. `id`, `since`: the store, and its creation by Redis's clock. `run`, `replid`: the primary that was
 * seen last; `at`: when; `reach`: the most replicas that it had. `copies`: the most replicas that any primary had. `wanted`: how many the
 * last reservation waited for. `lost`, `lostAt`, `lossUntil`: the newest loss, when it was found, and R. `apart`: the furthest that a
 * process was from the gateway's clock. `held`, `accounts`: as in a file.
 *
 * Keys beside it: `record:<id>` is a hash, by the id of its account and key. `index`, `pending` and `rejected` are sorted sets of ids, by
 * their end, deadline and end; `orders:<account>`, `unsent:<account>` and `rejected:<account>` those of one account. `removed:<account>`: when
 * its newest record gave way. `version:<account>`: changes with each order. `released:<reservation>`: one that may arrive after its release.
 */
const HEAD = `
local marker = KEYS[1]
local prefix = string.gsub(marker, 'marker$', '')
local index, pending, rejected = prefix .. 'index', prefix .. 'pending', prefix .. 'rejected'
local name = ARGV[9]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- The clock of Redis may be wrong by days. A record is made by the later of the clocks, and ends by what is surely past; what is said of
-- keys goes by the clocks of the process alone.
local asked, surely, dayMs = tonumber(ARGV[2]), tonumber(ARGV[3]) or 0, ${RECORD_LIFE_MS}
local later = math.max(now, asked)
local function info(section)
  local text = redis.pcall('INFO', section)
  return type(text) == 'string' and text or ''
end
local server, replication = info('server'), info('replication')
-- A primary that was demoted answers on, and knows nothing of what came since. This error has the client connect anew.
if string.find(replication, 'role:slave', 1, true) then return redis.error_reply('READONLY it is a replica of Redis') end
local run = string.match(server, 'run_id:(%x+)') or 'untold'
local replid = string.match(replication, 'master_replid:(%x+)') or ''
local former = string.match(replication, 'master_replid2:(%x+)') or ''
local startedAt = now - 1000 * (tonumber(string.match(server, 'uptime_in_seconds:(%d+)')) or 0)
local mark = {}
local fields = redis.call('HGETALL', marker)
for i = 1, #fields, 2 do mark[fields[i]] = fields[i + 1] end
local function number(field) return tonumber(mark[field] or 0) end
local function note(field, value)
  mark[field] = tostring(value)
  return redis.pcall('HSET', marker, field, value)
end
-- The replicas of Redis that are connected; -1 where it does not tell. One whose connection broke may be there twice. A tool that copies
-- Redis has no port and acknowledges nothing.
local function connected(silentSeconds)
  if replication == '' then return -1 end
  local seen, count = {}, 0
  for address, port, offset, lag in string.gmatch(replication, 'slave%d+:(ip=[^,]+,port=(%d+)),state=online,offset=(%d+),lag=(%d+)') do
    local isReplica = port ~= '0' or offset ~= '0'
    if isReplica and not seen[address] and tonumber(lag) <= silentSeconds then seen[address], count = true, count + 1 end
  end
  return count
end
local wanted = tonumber(ARGV[1]) or number('copies')
local function lose()
  note('lost', now .. ':' .. string.sub(run, 1, 8))
  note('lostAt', asked)
  mark.lossUntil = nil
  redis.pcall('HDEL', marker, 'lossUntil')
end
-- Whether this primary has all that the marked one had confirmed: 'whole', 'lost', or how many of its replicas have to follow it first.
local function descent()
  local least = math.min(wanted, number('wanted'))
  -- A primary that restarts from its snapshot names its former self as well: only one that ran when the marker was touched was promoted.
  if former ~= mark.replid or least < 1 or number('at') < startedAt + 1000 then return 'lost' end
  local others = number('reach') - least
  if others <= 0 then return 'whole' end
  -- A replica that has more than this primary cannot go on from its own offset.
  if string.match(info('stats'), 'sync_full:(%d+)') ~= '0' then return 'lost' end
  return connected(1000) >= others and 'whole' or others
end
local undecided = nil
local function adopt(reach)
  note('run', run)
  note('replid', replid)
  note('reach', reach)
end
-- The replid of one primary changes when its first replica attaches, and then it has no former one.
if not mark.id and ARGV[8] == '' then return {'', '', 0, {'absent'}} end
local isNew = not mark.id
local isOther = mark.run ~= run or mark.replid ~= replid and string.find(former, '[^0]') ~= nil
if not mark.id then
  note('id', now .. ':' .. run)
  note('since', now)
  adopt(math.max(0, connected(2)))
  local earlier = string.gsub(prefix, 'v2:$', 'epoch')
  local isEarlier = redis.call('EXISTS', earlier) == 1
  if ARGV[4] ~= '' or redis.call('EXISTS', index) == 1 or isEarlier then lose() end
  -- Processes of the earlier version hold their orders back from then on: their records and ours do not know of each other.
  if isEarlier then redis.pcall('HSET', earlier, 'held', 1) end
else
  if isOther then
    local of = descent()
    if of == 'lost' then lose() end
    if of == 'lost' or of == 'whole' then adopt(math.max(0, connected(2))) else undecided = of end
  elseif mark.replid ~= replid then note('replid', replid) end
  if ARGV[4] ~= '' and ARGV[4] ~= mark.id and ARGV[4] ~= mark.former then
    note('former', ARGV[4])
    lose()
  end
end
-- For a day after R, and two days longer where R was never fixed.
local function isIncomplete()
  if not mark.lost then return false end
  local untilMs = tonumber(mark.lossUntil) or number('lostAt') + 2 * dayMs
  return surely < untilMs + dayMs + ${KEY_AHEAD_MS}
end
-- Clocks that were read before the loss was known say nothing of it.
if isIncomplete() and not mark.lossUntil and ARGV[5] == mark.lost and ARGV[6] ~= '' then
  note('lossUntil', asked + math.max(ARGV[6], number('apart')) + ${CLOCKS_DIFFER_MS})
end
local function missing() return {'incomplete', mark.lossUntil or ''} end
local function ofAccount(kind, id) return prefix .. kind .. ':' .. string.match(id, '^[^:]*') end
-- Never the same twice, so that whoever has seen one knows of every later change.
local function changed(id)
  redis.pcall('SET', ofAccount('version', id), redis.pcall('INCR', prefix .. 'versions'), 'PX', 3 * dayMs)
end
local function drop(id)
  redis.call('DEL', prefix .. 'record:' .. id)
  for _, set in ipairs({index, pending, rejected}) do redis.call('ZREM', set, id) end
  for _, kind in ipairs({'orders', 'unsent', 'rejected'}) do redis.call('ZREM', ofAccount(kind, id), id) end
end
-- WAIT counts what its connection wrote last.
local function touch() redis.call('HSET', marker, 'touched', now) end
local function taken(id)
  local key = prefix .. 'record:' .. id
  local r = redis.call('HMGET', key, 'id', 'digest', 'at', 'deadline', 'outcome', 'asked', 'sent', 'answered', 'told')
  local ends = tonumber(redis.call('ZSCORE', index, id) or 0)
  if ends <= surely then return nil end
  if not r[1] then return {'evicted'} end
  -- Its process died, and from now on clients are told that the outcome is unknown.
  if r[5] == 'null' and tonumber(r[4]) <= now and not r[9] then
    redis.pcall('HSET', key, 'told', '1')
    changed(id)
  end
  return {'held', r[1], r[2], r[3], math.max(0, tonumber(r[4]) - now), r[5], r[6] or 'null', r[7] or '', r[8] or ''}
end
local function put(id, ends, isUnsent)
  redis.call('ZADD', index, ends, id)
  redis.call('ZADD', ofAccount(isUnsent and 'unsent' or 'orders', id), ends, id)
  redis.call('PEXPIREAT', prefix .. 'record:' .. id, ends + 2 * dayMs)
end
local function isRenamed()
  return mark.accounts and mark.accounts ~= ARGV[7] and redis.call('ZCOUNT', index, '(' .. surely, '+inf') > 0
end
local function main()
`;

const TAIL = `
end
local answer = main()
return {mark.id, mark.lost or '', tonumber(ARGV[1]) or number('copies'), answer}
`;

function script(body: string): string {
  return `${HEAD}${body}${TAIL}`;
}

/**
 * The two scripts that make a record. ARGV 9: its id by account and key, 10: the reservation, 11: the digest, 12: reserved at, 13: pending ms,
 * 14: what was asked, 15: the most records, 16: the most of an account, 17: 1 where it is of an order that is never sent, 18: when the key
 * was made, '' where that is not known, 19: how long a new store waits for those who remember another one.
 */
const ADD_HEAD = `
if isRenamed() then return {'renamed'} end
local no, isUnsent, made = taken(name), ARGV[17] == '1', tonumber(ARGV[18])
-- That a key is closed is told once the replicas of Redis have it.
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
local function first(set) return redis.call('ZRANGEBYSCORE', set, '(' .. surely, '+inf', 'WITHSCORES', 'LIMIT', 0, 1) end
local function left(set) return math.min(dayMs, math.max(1, math.ceil((first(set)[2] or later + dayMs) - later))) end
local most, ofUnsent = tonumber(ARGV[16]), held(unsent)
local own, victim = held(orders) + ofUnsent, nil
if isUnsent and ofUnsent >= math.ceil(most / 2) then return {'unsent', left(unsent)} end
if own >= most then
  victim = first(ofAccount('rejected', name))[1]
  if not victim then return {'account', left(orders)} end
end
local count = held(index)
if not victim and count >= tonumber(ARGV[15]) then
  victim = first(rejected)[1]
  if not victim then return {'full', left(index)} end
end
-- The first write: a Redis without memory refuses it. After a removal it would let the script write on, past its memory.
redis.call('HSET', marker, 'at', now, 'accounts', ARGV[7], 'wanted', wanted, 'reach', math.max(have, number('reach')))
-- The order traded nothing, so a repeat without keyMade is a first one. Of a later one with it the removal tells.
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
local isNearlyFull = own >= 0.8 * most and 1 or 0
`;

export const RESERVE = script(`${ADD_HEAD}
if redis.call('EXISTS', prefix .. 'released:' .. ARGV[10]) == 1 then return {'released'} end
if isIncomplete() and not (made and mark.lossUntil and made > tonumber(mark.lossUntil) + ${KEY_AHEAD_MS}) then return missing() end
if made and (made <= removed or ARGV[8] - made > math.min(now - number('since'), ${KEY_LIFE_MS})) then return {'forgotten'} end
${ADD}
record(0, 'null', ${UNKNOWN_LIFE_MS})
return {'reserved', count + (victim and 0 or 1), isNearlyFull, redis.call('ZCARD', rejected)}
`);

/** ARGV 20: the outcome, which lacks how far back the store remembers. */
export const VOID = script(`${ADD_HEAD}${ADD}
local known = now - number('since')
if isIncomplete() then known = ARGV[8] - (tonumber(mark.lossUntil) or ARGV[8]) - ${KEY_AHEAD_MS} end
local remembered = math.max(0, math.min(dayMs, known, ARGV[8] - removed))
record(2, string.gsub(ARGV[20], '"rememberedMs":0', string.format('"rememberedMs":%d', remembered)), dayMs)
local made = taken(name)
made[10] = isNearlyFull
return made
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
local r = redis.call('HMGET', prefix .. 'record:' .. name, 'id', 'rank', 'deadline')
if r[1] ~= ARGV[10] then
  -- Its reservation may still be on the way, over a connection that broke.
  redis.call('SET', prefix .. 'released:' .. ARGV[10], 1, 'PX', ${RELEASED_MS})
  return {'released'}
end
if r[2] == '2' then return {'released'} end
-- Clients may have been told that it is unknown.
if r[2] == '1' or tonumber(r[3]) <= now then return {'late'} end
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
 * Removes what has ended, and says how the store is. ARGV 9: 1 where a probe is to be written, since a Redis that is full or read-only
 * answers reads, 10: the most replicas of Redis that this process has seen.
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
local hasRejected = redis.call('ZCOUNT', rejected, '(' .. surely, '+inf') > 0
return {'seen', redis.call('ZCOUNT', index, '(' .. surely, '+inf'), hasRejected and 1 or 0, number('held'), isIncomplete() and 1 or 0,
  mark.lossUntil or '', connected(1000), string.match(info('persistence'), 'aof_enabled:(%d)') or 'untold',
  type(probe) == 'table' and probe.err or '', undecided or 0, isRenamed() and 1 or 0, isNew and 1 or 0}
`);

/** The record of a key, for an operator: whatever the store may lack besides. */
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

/** Answers '1' where what was written is there after a restart. */
export const DURABLE = `
local info = redis.pcall('INFO', 'persistence')
return type(info) == 'string' and string.match(info, 'aof_enabled:(%d)') or 'untold'
`;
