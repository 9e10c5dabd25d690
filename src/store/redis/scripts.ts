import { CLOCKS_DIFFER_MS, KEY_AHEAD_MS } from '../order-gap.ts';

/**
 * The scripts of the order records. Each runs as one step; leases and deadlines go by Redis's own clock. Their KEYS begin with
 * the same four (see `OrderScripts`), their ARGV end with the same four: how many replicas of Redis have to have a record by the
 * setting ('' where it is left out), the most that our replica has seen, then the dates by which records are made and end (the
 * latter '' where that is not sure). Each answers with a status word first.
 */

/** Answers '1' where what was written is there after a restart. */
const DURABLE_FUNCTION = `
local function durable()
  local info = redis.pcall('INFO', 'persistence')
  return type(info) == 'string' and string.match(info, 'aof_enabled:(%d)') or 'untold'
end
`;

// `run`: a Redis that was restarted, or took over from another, may have lost the last writes even
// where the marker survived. Its run id shows it; where INFO is forbidden the marker alone has to.
export const COMMON = `
local marker, members, expected, index = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local function run()
  local info = redis.pcall('INFO', 'server')
  return type(info) == 'string' and string.match(info, 'run_id:(%x+)') or 'untold'
end
-- The key of this deployment that ends so; a script's own are named by its replica.
local function named(rest) return (string.gsub(marker, 'epoch$', rest)) end
-- Sorted set: the records without an outcome, by their deadline.
local pending = named('pending')
${DURABLE_FUNCTION}local mark = redis.call('HMGET', marker, 'epoch', 'run', 'opensAt', 'latestAt',
  'writes', 'had', 'gone', 'goneAt', 'missing', 'missingAt', 'gap', 'until', 'untilOf', 'differ', 'held', 'accounts', 'copies')
local function number(at) return tonumber(mark[at] or 0) end
local dayMs = 86400000
-- The clock of Redis may be wrong by a day: a record is made by the later clock, and ends by what is surely past. What Redis itself
-- drops is past by any clock.
local later = math.max(now, tonumber(ARGV[#ARGV - 1]))
local surely = tonumber(ARGV[#ARGV]) or 0
local droppedMs = 2 * dayMs
-- The replicas of Redis that are connected; below 0 where it does not tell. One whose connection broke may be there twice, and one
-- that has another address now goes on as one that is not heard of. A tool that copies Redis, and is none, has no port
-- and acknowledges nothing.
local function connected(silentSeconds)
  local info = redis.pcall('INFO', 'replication')
  if type(info) ~= 'string' then return -1 end
  local seen, count = {}, 0
  for address, port, offset, lag in string.gmatch(info, 'slave%d+:(ip=[^,]+,port=(%d+)),state=online,offset=(%d+),lag=(%d+)') do
    local isReplica = port ~= '0' or offset ~= '0'
    if isReplica and not seen[address] and tonumber(lag) <= silentSeconds then seen[address], count = true, count + 1 end
  end
  return count
end
local copiesSetting = ARGV[#ARGV - 3]
local mostCopies = math.max(number(17), tonumber(ARGV[#ARGV - 2]))
local wantedCopies = tonumber(copiesSetting) or mostCopies
local function countCopies()
  mostCopies = math.max(mostCopies, connected(2))
  if mostCopies > number(17) then redis.call('HSET', marker, 'copies', mostCopies) end
end
-- What only a Redis with too few replicas has is taken back by its failover.
local function tooFew()
  local have = copiesSetting == '0' and 0 or connected(1000)
  local isUntold = have < 0 and copiesSetting == ''
  return (isUntold or have >= 0 and have < wantedCopies) and {'copies', have, wantedCopies} or nil
end
-- Empty where Redis may have lost something, and nobody has begun a new epoch yet.
local current = mark[2] == run() and mark[1] or ''
local function recovering()
  local isIncomplete = redis.call('ZCOUNT', expected, 1, 1) > 0
  return tonumber(isIncomplete and mark[4] or mark[3]) > now
end
-- Records are missing that no living replica has made: 2, or 1 where a replica did not come to write its own back. That ends a day
-- after the date that an order gave it, without one two days later, since it may have been found by a wrong one; and so much later as
-- the time of a key may be ahead.
local function incomplete()
  local foundAt = ':' .. number(10)
  local isDated = mark[13] and string.sub(mark[13], -#foundAt) == foundAt
  local endsAt = math.max(number(10), isDated and number(12) or 0) + dayMs + ${KEY_AHEAD_MS + CLOCKS_DIFFER_MS}
  if surely >= endsAt + (isDated and 0 or 2 * dayMs) then return false end
  local isAbandoned = mark[11] == '1' or redis.call('ZCOUNT', expected, 1, 1) > 0
  return mark[9] == '2' or mark[9] == '1' and isAbandoned
end
-- A gap is known by the epoch and the moment in which it was found: what either of them begins anew is another one.
local function missingName() return incomplete() and (mark[1] or '') .. ':' .. number(10) or '' end
local function missingUntil() return mark[13] == missingName() and number(12) or nil end
-- All writes so far may be of a replica that is gone.
local function departed()
  redis.call('HSET', marker, 'gone', number(5), 'goneAt', later)
end
local function refusal(epoch)
  if current == '' then return {'lost'} end
  if current ~= epoch then return {'foreign'} end
  return recovering() and {'recovering'} or nil
end
-- Never the same twice, so that whoever has seen one knows of every later change. As long as a record.
local function changed(version, id)
  redis.pcall('SET', version, clock[1] .. '.' .. clock[2] .. ' ' .. id, 'PX', dayMs + droppedMs)
end
local function taken(key, id, version)
  local r = redis.call('HMGET', key,
    'reservation', 'canonical', 'at', 'deadline', 'outcome', 'epoch', 'member', 'told')
  -- A replica of an earlier version takes a record out of the index by the clock of Redis.
  local ends = tonumber(redis.call('ZSCORE', index, id) or (r[3] or 0) + dayMs)
  if ends <= surely then return nil end
  if not r[1] then
    return redis.call('ZSCORE', index, id) and {'evicted'} or nil
  end
  -- The replica that made it has written its records back to this epoch, and it was not among them:
  -- it had been given back, which is among the writes that Redis lost. An outcome is never given back.
  local isPast = r[5] == 'null' and r[6] and r[6] ~= current
  if isPast and redis.call('ZSCORE', expected, r[7]) == '0' then return nil end
  -- Its replica died, and from now on clients are told that the outcome is unknown.
  if r[5] == 'null' and tonumber(r[4]) <= now and r[8] ~= r[1] then
    redis.pcall('HSET', key, 'told', r[1])
    changed(version, id)
  end
  return {'held', r[1], r[2], r[3], math.max(0, tonumber(r[4]) - now), r[5], math.max(0, ends - later)}
end
`;

// A Redis that was emptied, or keeps no log of its writes, has forgotten what no living replica wrote back; so has
// one whose epoch a replica left, or was taken for dead in, before it had written back.
export const MEMORY = `
local memory = redis.call('HMGET', marker, 'memoryOf', 'begunAt', 'since', 'durable', 'gap')
local function rememberedSince()
  -- After a gap a key counts as old until it is too young for any client's clock.
  if incomplete() then return number(10) + 60000 end
  -- Begun by a replica of an earlier version, which does not say what it found.
  if memory[1] ~= mark[1] then return tonumber(mark[3]) end
  local isWhole = memory[4] == '1' and memory[5] == '0' and redis.call('ZCOUNT', expected, 1, 1) == 0
  return tonumber(isWhole and durable() == '1' and memory[3] or memory[2])
end
`;

export const DURABLE = `${DURABLE_FUNCTION}return durable()`;

/**
 * The beginning of RESERVE and VOID: it answers where the key is not free or there is no room, and defines how it is taken.
 * KEYS 5: the record, 6: its account's records of the same kind, 7: its account's version, 8: its rejected orders; likewise in FIND and RELEASE.
 * ARGV: epoch, id, member, reservation, input digest, reserved at, pending ms, life ms, max, `required` where a Redis that
 * forgets takes none, share, max of an account, max of a token, which part of these is nearly all, max of
 * an account's rejected orders, beyond it max of a token's, max of all records for an account that has as many as follow, when the
 * key was made, the gap that the replica has seen, when that ended at the latest by its clocks ('' each where it is not known), how
 * far these are apart, the outcome of a key that is closed, how old the key is at least (''), and how old it may be.
 */
const ADD = `
local key, set, id, share = KEYS[5], KEYS[6], ARGV[2], ARGV[11]
local no = refusal(ARGV[1]) or taken(key, id, KEYS[7])
-- That a key is closed is told once the replicas of Redis have it: WAIT counts writes.
if no and no[1] == 'held' and no[3] == '' then redis.call('HSET', key, 'epoch', current) end
if no then return no end
-- Before all that says of a key that no earlier order had it; a key is closed nevertheless.
if incomplete() then
  local untilMs = missingUntil()
  -- Of a gap that was found since the replica read its clocks they say nothing.
  if not untilMs and ARGV[20] == missingName() and ARGV[21] ~= '' then
    untilMs = math.max(number(12), tonumber(ARGV[21]) + number(14))
    redis.call('HSET', marker, 'until', untilMs, 'untilOf', ARGV[20])
  end
  local isYoung = untilMs and tonumber(ARGV[19] or '') and tonumber(ARGV[19]) > untilMs + 60000
  if ARGV[23] == '' and not isYoung then return {'incomplete', untilMs or ''} end
end
local keyAge = tonumber(ARGV[24]) or 0
if keyAge > 0 and keyAge > math.min(tonumber(ARGV[25]), now - rememberedSince()) then return {'forgotten'} end
if ARGV[10] == 'required' and durable() ~= '1' then return {'forgets', durable()} end
if tooFew() then return tooFew() end
-- No write before the last of these: after any write Redis would let the script exceed its memory.
local count = redis.call('ZCARD', index)
local mostOfAccount, mostOfToken, nearly = tonumber(ARGV[12]), tonumber(ARGV[13]), tonumber(ARGV[14])
local past = redis.call('ZCOUNT', set, '-inf', surely)
local own = redis.call('ZCARD', set) - past
if count >= tonumber(own < tonumber(ARGV[18]) and ARGV[9] or ARGV[17]) then
  local oldest = redis.call('ZRANGE', index, 0, 0, 'WITHSCORES')[2]
  return {'full', oldest and math.max(0, math.ceil(oldest - later)) or ''}
end
local isNearlyFull = 0
if own >= nearly * mostOfToken then
  local held = redis.call('ZRANGE', set, past, -1, 'WITHSCORES')
  local ofToken, oldest = 0, 0
  for i = #held - 1, 1, -2 do
    if string.sub(held[i], 1, #share) == share then ofToken, oldest = ofToken + 1, held[i + 1] end
  end
  if own >= mostOfAccount then return {'account', math.ceil(held[2] - later)} end
  if ofToken >= mostOfToken then return {'token', math.ceil(oldest - later)} end
  local rejected = redis.call('ZRANGEBYSCORE', KEYS[8], '(' .. surely, '+inf', 'WITHSCORES')
  if #rejected / 2 >= tonumber(ARGV[15]) then
    local rejectedOfToken = 0
    for i = 1, #rejected, 2 do
      if string.sub(rejected[i], 1, #share) == share then rejectedOfToken = rejectedOfToken + 1 end
    end
    if rejectedOfToken >= tonumber(ARGV[16]) then return {'rejected', math.ceil(rejected[2] - later)} end
  end
  if own >= nearly * mostOfAccount or ofToken >= nearly * mostOfToken then isNearlyFull = 1 end
end
local function record(rank, outcome)
  if tonumber(ARGV[22]) > number(14) then redis.call('HSET', marker, 'differ', ARGV[22]) end
  redis.call('HSET', key, 'epoch', current, 'member', ARGV[3], 'reservation', ARGV[4],
    'canonical', ARGV[5], 'at', ARGV[6], 'deadline', now + ARGV[7], 'rank', rank, 'outcome', outcome)
  if rank == 0 then redis.call('ZADD', pending, now + ARGV[7], id) end
  local ends = later + ARGV[8]
  redis.call('PEXPIREAT', key, ends + droppedMs)
  redis.call('ZADD', index, ends, id)
  redis.call('HSET', marker, 'writes', number(5) + 1)
  if past > 0 then redis.call('ZREMRANGEBYSCORE', set, '-inf', surely) end
  redis.call('ZADD', set, ends, share .. id)
  redis.call('PEXPIREAT', set, ends + droppedMs)
end
`;

export const RESERVE = `${COMMON}${MEMORY}${ADD}
record(0, 'null')
return {'reserved', count + 1, isNearlyFull, wantedCopies}
`;

/** The outcome lacks how far Redis remembers. */
export const VOID = `${COMMON}${MEMORY}${ADD}
local remembered = math.max(0, math.min(tonumber(ARGV[8]), now - rememberedSince()))
local outcome = string.gsub(ARGV[23], '"rememberedMs":0', string.format('"rememberedMs":%d', remembered))
record(2, outcome)
return taken(key, id, KEYS[7])
`;

/** ARGV: epoch, id. */
export const FIND = `${COMMON}
return refusal(ARGV[1]) or taken(KEYS[5], ARGV[2], KEYS[7]) or incomplete() and {'incomplete', missingUntil() or ''} or {'none'}
`;

/** ARGV: id, reservation, share. */
export const RELEASE = `${COMMON}
local record = redis.call('HMGET', KEYS[5], 'reservation', 'rank', 'deadline')
if record[1] == ARGV[2] and record[2] ~= '2' then
  -- Redis's clock has the last word on whether its time is over; of one that was cut off clients may have been told.
  if record[2] == '1' or tonumber(record[3]) <= now then
    redis.call('HSET', KEYS[5], 'epoch', current)
    return {'late'}
  end
  redis.call('DEL', KEYS[5])
  redis.call('ZREM', index, ARGV[1])
  redis.call('ZREM', pending, ARGV[1])
  redis.call('ZREM', KEYS[6], ARGV[3] .. ARGV[1])
end
return {'released'}
`;

/**
 * KEYS 5 and on: each record, its account's records of the same kind, version, and rejected orders. ARGV: the epoch to write
 * back to (`none` for an outcome), longest wait, member, then for each record id, reservation, input digest, reserved at,
 * pending ms, rest of its life in ms, rank, outcome, `changed` where the outcome has changed the account, or may have,
 * `rejected` where the gateway refused the order, share. Answers the conflicts, then number and outcome of each record that an
 * operator has settled.
 */
export const MERGE = `${COMMON}
-- A replica with much to write back is waited for as long as it goes on writing.
if current == ARGV[1] and recovering() then redis.call('HSET', marker, 'latestAt', now + ARGV[2]) end
local answer = {'merged', 0}
local function lengthen(set, untilMs)
  if redis.call('PTTL', set) < untilMs - now then redis.call('PEXPIREAT', set, untilMs) end
end
local function ended(how, i, id, ends, share)
  if how == 'changed' then changed(KEYS[i + 2], id) end
  if how ~= 'rejected' then return end
  redis.call('ZREMRANGEBYSCORE', KEYS[i + 3], '-inf', surely)
  redis.call('ZADD', KEYS[i + 3], ends, share .. id)
  lengthen(KEYS[i + 3], ends + droppedMs)
end
for i = 5, #KEYS, 4 do
  local key, set, base = KEYS[i], KEYS[i + 1], 3 + (i - 5) / 4 * 10
  local id, reservation, rank = ARGV[base + 1], ARGV[base + 2], tonumber(ARGV[base + 7])
  local have = redis.call('HMGET', key, 'reservation', 'rank', 'epoch', 'outcome')
  local ends = later + ARGV[base + 6]
  -- Another one that nobody has written back was given back before ours was made: Redis lost both writes.
  local isPast = have[1] ~= reservation and have[2] == '0' and have[3] and have[3] ~= current
  local isOver = tonumber(redis.call('ZSCORE', index, id) or ends) <= surely
  if isPast or isOver or not have[1] then
    -- It may be an order whose count Redis has lost.
    redis.call('HSET', marker, 'formerWrites', -1)
    redis.call('HSET', key, 'epoch', current, 'member', ARGV[3], 'reservation', reservation,
      'canonical', ARGV[base + 3], 'at', ARGV[base + 4], 'deadline', now + ARGV[base + 5],
      'rank', rank, 'outcome', ARGV[base + 8])
    redis.call('PEXPIREAT', key, ends + droppedMs)
    redis.call('ZADD', index, ends, id)
    redis.call('ZADD', set, ends, ARGV[base + 10] .. id)
    if rank == 0 then redis.call('ZADD', pending, now + ARGV[base + 5], id) end
    lengthen(set, ends + droppedMs)
    ended(ARGV[base + 9], i, id, ends, ARGV[base + 10])
  elseif have[1] ~= reservation then
    answer[2] = answer[2] + 1
  else
    redis.call('HSET', key, 'epoch', current)
    -- The clock may have been set since, and with it the end of what it keeps.
    if current == ARGV[1] then
      redis.call('PEXPIREAT', key, ends + droppedMs)
      redis.call('ZADD', index, ends, id)
    end
    -- An operator may have settled it behind the replica that made it. A text's own quotes are escaped.
    if string.find(have[4], '"settled":{', 1, true) then
      answer[#answer + 1], answer[#answer + 2] = (i - 5) / 4, have[4]
    end
    -- What was sent on a connection before this one may arrive only now.
    if tonumber(have[2]) < rank then
      redis.call('HSET', key, 'rank', rank, 'outcome', ARGV[base + 8])
      redis.call('ZREM', pending, id)
      ended(ARGV[base + 9], i, id, ends, ARGV[base + 10])
    end
  end
end
return answer
`;

/** ARGV: epoch, how long past its deadline an order is left to its replica. Answers id and time of each that is marked as unknown. */
export const CUT_OFF = `${COMMON}
local no = refusal(ARGV[1])
if no then return no end
local found = {'marked'}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', pending, '-inf', now - ARGV[2], 'LIMIT', 0, 100)) do
  local key = named('record:') .. id
  local held = taken(key, id, named('version:') .. string.match(id, '^[^:]*'))
  redis.call('ZREM', pending, id)
  if held and held[1] == 'held' and held[6] == 'null' then
    redis.call('HSET', key, 'rank', 1, 'outcome', '{"kind":"unknown","sentAtMs":' .. held[4] .. ',"message":null}')
    found[#found + 1], found[#found + 2] = id, held[4]
  end
end
return found
`;

/** KEYS 1: the marker, then versions of accounts. Answers the epoch, then each version. */
export const VERSIONS = `
local answer = {redis.call('HMGET', KEYS[1], 'epoch')[1] or ''}
for i = 2, #KEYS do answer[i] = redis.call('GET', KEYS[i]) or '' end
return answer
`;
