import { KEY_MARGIN_MS } from '../key-rule.ts';
import { RECORD_LIFE_MS, UNKNOWN_LIFE_MS } from '../order-records.ts';

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

/**
 * Reads the run id and the replication id of Redis. A demoted primary still answers, but lacks later writes: its error makes
 * clients reconnect.
 */
export const READ_PRIMARY = `
local server, replication = redis.call('INFO', 'server'), redis.call('INFO', 'replication')
if string.find(replication, 'role:slave', 1, true) then return redis.error_reply('READONLY it is a replica of Redis') end
local run = string.match(server, 'run_id:(%x+)') .. ' ' .. string.match(replication, 'master_replid:(%x+)')
`;

export const FORGETFUL =
  'Redis has appendonly no: a restart would forget orders, which could then be sent again';
const EVICTED = 'Redis has dropped the record of this key before its time (see maxmemory-policy)';
const MISSING_REPLICAS =
  'replicas of Redis are connected, and a failover would forget orders (REDIS_REPLICAS)';

/** The format of the keys. Processes of different versions must not share records. */
const VERSION = 5;
/** How many losses a marker remembers. A process that knows of none of them reports another one. */
const MAX_LOSSES = 20;

/**
 * The marker is a hash. `version`: the format of the keys. `run`: the ids of the latest accepted primary and of its
 * replication. `losses`: the ids of the latest losses, the newest first; the first loss of a store is its creation. `since`:
 * keys that were made until then may have lost their records; absent after a loss until it is decided. `judged`: the latest
 * date by which a key was judged. `copies`: the most replicas of Redis that any primary had. `held`: 1 while an operator
 * holds orders back. `accounts`: the settings that named the accounts.
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
  redis.pcall('HSET', marker, field, mark[field])
end
local isWrite = false
-- The number of connected replicas. A replica that reconnected may be listed twice. A tool that copies Redis has no port, and acknowledges
-- nothing, so it does not count.
local function connected()
  local seen, count = {}, 0
  for address, port, offset in string.gmatch(replication, 'slave%d+:(ip=[^,]+,port=(%d+)),state=online,offset=(%d+)') do
    local isReplica = port ~= '0' or offset ~= '0'
    if isReplica and not seen[address] then seen[address], count = true, count + 1 end
  end
  return count
end
local wanted = given.replicas or math.max(markNumber('copies'), given.knownCopies)
local function unusable(message, earlierUnknown) return {kind = 'unusable', message = message, earlierUnknown = earlierUnknown} end
local function missingReplicas()
  local have = connected()
  -- Its successor may have recorded the key.
  if have < wanted then return unusable(have .. ' of ' .. wanted .. ' ${MISSING_REPLICAS}', true) end
end
-- The ids of losses have no spaces.
local function hasLoss(id) return string.find(' ' .. mark.losses .. ' ', ' ' .. id .. ' ', 1, true) ~= nil end
-- The end of a loss is decided later, never before that of an earlier loss. 'known' is a loss that the marker does not have.
local isLoss = false
local function noteLoss(known)
  isLoss = true
  local ids, count = {given.newLoss}, 1
  for id in string.gmatch((known or '') .. ' ' .. (mark.losses or ''), '%S+') do
    if count < ${MAX_LOSSES} then ids[count + 1], count = id, count + 1 end
  end
  setMark('judged', string.format('%d', math.max(markNumber('judged'), markNumber('since'))))
  setMark('losses', table.concat(ids, ' '))
  setMark('run', run)
  mark.since = nil
  redis.pcall('HDEL', marker, 'since')
end
local isNew = not mark.version
if isNew and given.isInspection then return cjson.encode({fault = 'absent', isDurable = isDurable()}) end
if not isNew and mark.version ~= '${VERSION}' then return cjson.encode({fault = 'foreignVersion'}) end
if isNew then
  setMark('version', ${VERSION})
  noteLoss(given.knownLoss)
  isLoss = given.knownLoss ~= nil or redis.call('EXISTS', index) == 1
  if given.takesOldKeys and not isLoss then setMark('since', 0) end
-- No change of Redis's history is harmless: a restart and a promotion may each have lost records.
elseif mark.run ~= run then noteLoss(given.knownLoss and not hasLoss(given.knownLoss) and given.knownLoss)
-- This process has used a later history, or another store.
elseif given.knownLoss and not hasLoss(given.knownLoss) then noteLoss(given.knownLoss) end
local loss = string.match(mark.losses, '^%S+')
-- Decides the end of the loss, never before a key was judged. A process may do so only if it has read its clock after the loss was on
-- enough replicas. A process that learns of the loss later may have judged keys by a later date.
if given.knownLoss ~= loss then
  if given.isHeld and mark.held ~= '1' then setMark('held', 1) end
  if given.mostJudgedMs > markNumber('judged') then setMark('judged', string.format('%d', given.mostJudgedMs)) end
  if mark.since and given.mostJudgedMs > markNumber('since') then setMark('since', string.format('%d', given.mostJudgedMs)) end
elseif not mark.since and given.isMeasured and given.confirmedLoss == loss then
  setMark('since', string.format('%d', math.max(given.latestMs, given.mostJudgedMs, markNumber('judged'))))
end
-- Whether the store has the record of every order with the key of this time, unless the record has ended.
local function isCovered(made) return mark.since ~= nil and made > markNumber('since') + ${KEY_MARGIN_MS} end
local function accountKey(kind, id) return prefix .. kind .. ':' .. string.match(id, '^[^:]*') end
-- Why an order may have used the key that has no record, by the rules of key-rule.ts. The process has judged the key's time alone.
local function keyFault()
  local removedAt = tonumber(redis.call('GET', accountKey('removed', name)) or 0)
  local isKept = isCovered(given.madeMs) and given.madeMs > removedAt + ${KEY_MARGIN_MS}
  if given.isMeasured and not isKept then return {kind = 'old'} end
  return given.timeFault and {kind = given.timeFault} -- 'unmeasured', 'old' or 'ahead'
end
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
local function touch()
  isWrite = true
  redis.call('HSET', marker, 'touched', now)
end
local function liveRecord(id)
  local ends = tonumber(redis.call('ZSCORE', index, id) or 0)
  if ends <= earlierNow then return nil end
  local key = prefix .. 'record:' .. id
  local record = readHash(key)
  if not record.id then return unusable('${EVICTED}', true) end
  -- After an order's deadline its process is gone: from now on clients read that the outcome is unknown, even if the clock is set back.
  local isOver = record.overdueRead or tonumber(record.deadline) <= now
  if isOver and record.outcome == 'null' and not record.overdueRead then
    redis.pcall('HSET', key, 'overdueRead', '1')
    newVersion(id)
  end
  record.leftMs = isOver and 0 or record.deadline - now
  record.overdueMs = now - record.deadline
  record.kind = 'record'
  return record
end
-- The record as clients read it, or a refusal. An empty digest means that the key is closed. This counts only once enough replicas of Redis
-- have it, and only if no order can have used the key before.
local function foundRecord()
  local found = liveRecord(name)
  if not found or found.digest ~= '' then return found end
  if found.doubtful == '1' or not isCovered(given.madeMs) then return {kind = 'old'} end
  touch()
  return found
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
-- Rank 1 is unknown, and rank 2 a known outcome. Returns when the record ends.
local function setOutcome(id, isUnsent, rank, outcome)
  local ends = laterNow + (rank == 2 and dayMs or ${UNKNOWN_LIFE_MS})
  redis.call('HSET', prefix .. 'record:' .. id, 'rank', rank, 'outcome', outcome)
  redis.call('ZREM', pending, id)
  addToSets(id, ends, isUnsent)
  if rank == 1 then redis.call('ZADD', unknown, ends, id) else redis.call('ZREM', unknown, id) end
  return ends
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
return cjson.encode({losses = given.knownLoss == loss and loss or mark.losses, isLoss = isLoss, copies = markNumber('copies'), isHeld = mark.held == '1', isWrite = isWrite, answer = answer})
`;

/** Each script consists of a common head, its body and a common tail. Its whole text is sent each time, without lines of comments. */
export function script<Answer>(body: string): Script<Answer> {
  return { text: `${HEAD}${body}${TAIL}`.replaceAll(/^ *--.*\n/gm, '') };
}
