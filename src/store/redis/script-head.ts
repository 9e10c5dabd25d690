import { CLOCK_TOLERANCE_MS, KEY_AHEAD_MS } from '../order-gap.ts';
import { RECORD_LIFE_MS } from '../order-records.ts';

/**
 * A script of the order records, which runs as one step. It gets the key of the marker, from whose name it derives all
 * other keys, and one JSON object: the values that `OrderStore` passes to every script, and the script's own. It returns a
 * `StoreReply` as JSON.
 */
export interface Script<Answer> {
  readonly text: string;
  /** The type of its answer; never set. */
  readonly answer?: Answer;
}

/** Reads the run id of Redis. A demoted primary still answers, but lacks later writes: its error makes clients reconnect. */
export const READ_PRIMARY = `
local server, replication = redis.call('INFO', 'server'), redis.call('INFO', 'replication')
if string.find(replication, 'role:slave', 1, true) then return redis.error_reply('READONLY it is a replica of Redis') end
local run = string.match(server, 'run_id:(%x+)')
`;

/**
 * The marker is a hash. `id`, `since`: the store, and its creation by Redis's clock. `former`: the id of a store before it.
 * `run`, `replid`: the last accepted primary; `at`: when it was last seen; `reach`: the most replicas that it had. `copies`:
 * the most replicas that any primary had. `wanted`: how many replicas the last reservation waited for. `lost`, `lostAt`,
 * `lossUntil`: the latest loss, when it was found, and the end of its gap. `apart`: the largest difference between a
 * process's clock and the gateway's. `held`: 1 while an operator holds orders back. `accounts`: the settings that named the
 * accounts.
 *
 * The other keys: `record:<id>` is a hash; its id is made of account and key. `index`, `rejected` and `unknown` (scored by a
 * record's end) and `pending` (by its deadline) are sorted sets of ids; `orders:<account>`, `unsent:<account>` and
 * `rejected:<account>` are those of one account. `removed:<account>`: when its latest record was removed to make room.
 * `version:<account>`: changes with each order. `released:<reservation>`: a reservation that may arrive after its release.
 */
const HEAD = `${READ_PRIMARY}
local marker, given = KEYS[1], cjson.decode(ARGV[1])
local prefix = string.gsub(marker, 'marker$', '')
local index, pending, rejected, unknown = prefix .. 'index', prefix .. 'pending', prefix .. 'rejected', prefix .. 'unknown'
local name, dayMs = given.name, ${RECORD_LIFE_MS}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- The clock of Redis may be wrong by days, so its own expiry of keys (PX, PEXPIREAT) leaves days to spare. A record is dated by the later
-- clock, and it expires by the earlier clock of its process and the gateway. Without both clocks nothing expires. The age of a key is judged
-- only by the clocks of the process.
local earlierNow, laterNow = given.earlierMs or 0, math.max(now, given.laterMs)
local replid = string.match(replication, 'master_replid:(%x+)')
local formerReplid = string.match(replication, 'master_replid2:(%x+)')
local startedAt = now - 1000 * string.match(server, 'uptime_in_seconds:(%d+)')
-- Whether a restart of Redis keeps all its writes.
local function isDurable() return string.find(redis.call('INFO', 'persistence'), 'aof_enabled:1', 1, true) ~= nil end
local function readHash(key)
  local fields, list = {}, redis.call('HGETALL', key)
  for i = 1, #list, 2 do fields[list[i]] = list[i + 1] end
  return fields
end
local mark = readHash(marker)
local function markNumber(field) return tonumber(mark[field] or 0) end
-- A full Redis refuses the write. The script continues with the new value.
local function setMark(field, value)
  mark[field] = tostring(value)
  redis.pcall('HSET', marker, field, value)
end
-- The number of replicas that acknowledged something within these seconds. A replica that reconnected may be listed twice. A tool that
-- copies Redis has no port, and acknowledges nothing, so it does not count. At the turn of a second the lag is -1 for some milliseconds,
-- because Redis computes it from two clocks.
local function replicasWithin(seconds)
  local seen, count = {}, 0
  for address, port, offset, lag in string.gmatch(replication, 'slave%d+:(ip=[^,]+,port=(%d+)),state=online,offset=(%d+),lag=(%-?%d+)') do
    local isReplica = port ~= '0' or offset ~= '0'
    if isReplica and not seen[address] and tonumber(lag) <= seconds then seen[address], count = true, count + 1 end
  end
  return count
end
local function acknowledging() return replicasWithin(2) end
local function connected() return replicasWithin(1000) end -- So long that every online replica counts.
local mostReplicas = math.max(markNumber('copies'), given.knownCopies)
local wanted = given.replicas or mostReplicas
local function noteLoss()
  setMark('lost', now .. ':' .. string.sub(run, 1, 8))
  setMark('lostAt', given.laterMs)
  mark.lossUntil = nil
  redis.pcall('HDEL', marker, 'lossUntil')
end
-- Whether this primary has all confirmed writes of the primary in the marker: 'whole', 'lost', or 'undecided' until enough replicas follow.
local function completeness()
  local confirmedOn = math.min(wanted, markNumber('wanted'))
  local isSuccessor = formerReplid == mark.replid
  -- A primary that restarts from its snapshot also names its former self. Only a primary that was running when the marker was last dated was promoted.
  local wasRunning = markNumber('at') >= startedAt + 1000
  if confirmedOn < 1 or not isSuccessor or not wasRunning then return 'lost' end
  -- Each confirmed write is on all replicas of the marked primary except at most this many. So if this many follow, one of
  -- them or this primary has it. A replica with more writes than this primary cannot continue from its own offset, and makes a full sync.
  local mayLack = markNumber('reach') - confirmedOn
  if mayLack <= 0 then return 'whole' end
  if string.match(redis.call('INFO', 'stats'), 'sync_full:(%d+)') ~= '0' then return 'lost' end
  return connected() >= mayLack and 'whole' or 'undecided'
end
local function acceptPrimary()
  setMark('run', run)
  setMark('replid', replid)
  setMark('reach', acknowledging())
end
if not mark.id and given.isInspection then return cjson.encode({answer = {kind = 'absent', isDurable = isDurable()}}) end
local isNew, isUndecided = not mark.id, false
if isNew then
  setMark('id', now .. ':' .. run)
  setMark('since', now)
  acceptPrimary()
  local formerMarker = string.gsub(prefix, 'v2:$', 'epoch')
  local hasFormer = redis.call('EXISTS', formerMarker) == 1
  if given.knownId or redis.call('EXISTS', index) == 1 or hasFormer then noteLoss() end
  -- Holds back the orders of processes of the former version, because the two versions do not see each other's records.
  if hasFormer then redis.pcall('HSET', formerMarker, 'held', 1) end
else
  local isPromoted = mark.replid ~= replid and string.find(formerReplid, '[^0]')
  if mark.run ~= run or isPromoted then
    local state = completeness()
    if state == 'lost' then noteLoss() end
    isUndecided = state == 'undecided'
    if not isUndecided then acceptPrimary() end
  elseif mark.replid ~= replid then
    -- The replid of a primary changes when its first replica attaches; it then has no former replid.
    setMark('replid', replid)
  end
  if given.knownId and given.knownId ~= mark.id and given.knownId ~= mark.former then
    setMark('former', given.knownId)
    noteLoss()
  end
end
-- True until a day after the end of the gap, or until three days after the loss if the end was never decided.
local function isIncomplete()
  if not mark.lost then return false end
  local untilMs = tonumber(mark.lossUntil) or markNumber('lostAt') + 2 * dayMs
  return earlierNow < untilMs + dayMs + ${KEY_AHEAD_MS}
end
-- Only a process that knows of the loss decides the end of its gap, because its clocks were read after the loss was found.
if isIncomplete() and not mark.lossUntil and given.knownLoss == mark.lost and given.differMs then
  setMark('lossUntil', given.laterMs + math.max(given.differMs, markNumber('apart')) + ${CLOCK_TOLERANCE_MS})
end
local function gapAnswer() return {kind = 'incomplete', untilMs = tonumber(mark.lossUntil)} end
local function accountKey(kind, id) return prefix .. kind .. ':' .. string.match(id, '^[^:]*') end
local function newVersion(id)
  redis.pcall('SET', accountKey('version', id), redis.pcall('INCR', prefix .. 'versions'), 'PX', 3 * dayMs)
end
local function removeRecord(id)
  redis.call('DEL', prefix .. 'record:' .. id)
  for _, set in ipairs({index, pending, rejected, unknown}) do redis.call('ZREM', set, id) end
  for _, kind in ipairs({'orders', 'unsent', 'rejected'}) do redis.call('ZREM', accountKey(kind, id), id) end
end
-- Makes the answer count only once enough replicas of Redis have it. From Redis 7.2 on, WAIT counts the latest write of its connection,
-- so a script that only reads must write something.
local isWrite = false
local function touch()
  isWrite = true
  redis.call('HSET', marker, 'touched', now)
end
local function liveRecord(id)
  local ends = tonumber(redis.call('ZSCORE', index, id) or 0)
  if ends <= earlierNow then return nil end
  local key = prefix .. 'record:' .. id
  local record = readHash(key)
  if not record.id then return {kind = 'evicted'} end
  -- After an order's deadline its process is gone: from now on clients read that the outcome is unknown, even if the clock is set back.
  local isOver = record.overdueRead or tonumber(record.deadline) <= now
  if isOver and record.outcome == 'null' and not record.overdueRead then
    redis.pcall('HSET', key, 'overdueRead', '1')
    newVersion(id)
  end
  record.leftMs = isOver and 0 or record.deadline - now
  record.kind = 'record'
  return record
end
local function writeRecord(deadline, rank, outcome)
  redis.call('HSET', prefix .. 'record:' .. name, 'id', given.id, 'digest', given.digest, 'at', given.reservedAtMs, 'asked', given.asked,
    'unsent', given.isUnsent and '1' or '', 'deadline', deadline, 'rank', rank, 'outcome', outcome)
end
local function addToSets(id, ends, isUnsent)
  redis.call('ZADD', index, ends, id)
  redis.call('ZADD', accountKey(isUnsent and 'unsent' or 'orders', id), ends, id)
  redis.call('PEXPIREAT', prefix .. 'record:' .. id, ends + 2 * dayMs)
end
local function countLive(set) return redis.call('ZCOUNT', set, '(' .. earlierNow, '+inf') end
-- An account's orders cannot be found under a different name of the account.
local function isRenamed()
  return given.accounts ~= nil and mark.accounts ~= nil and mark.accounts ~= given.accounts and countLive(index) > 0
end
local function main()
`;

const TAIL = `
end
local answer = main()
return cjson.encode({id = mark.id, loss = mark.lost, copies = markNumber('copies'), isWrite = isWrite, answer = answer})
`;

/** Each script consists of a common head, its body and a common tail. */
export function script<Answer>(body: string): Script<Answer> {
  return { text: `${HEAD}${body}${TAIL}` };
}
