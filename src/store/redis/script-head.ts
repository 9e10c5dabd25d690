import { CLOCKS_DIFFER_MS, KEY_AHEAD_MS } from '../order-gap.ts';
import { RECORD_LIFE_MS } from '../order-records.ts';

/**
 * The scripts of the order records. Each runs as one step. KEYS has the marker, whose name begins those of all other keys. ARGV begins
 * with the eight arguments of `OrderStore`; the last is empty for operators, who create no store. Each answers with the store's id, the name of its
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
-- The clock of Redis may be wrong by days. A record is dated by the later clock and ends by the earlier one; the age of a key is judged
-- by the clocks of the process alone.
local asked, surely, dayMs = tonumber(ARGV[2]), tonumber(ARGV[3]) or 0, ${RECORD_LIFE_MS}
local later = math.max(now, asked)
local function info(section)
  local text = redis.pcall('INFO', section)
  return type(text) == 'string' and text or ''
end
local server, replication = info('server'), info('replication')
-- A demoted primary still answers, but lacks what came since. This error makes the client reconnect.
if string.find(replication, 'role:slave', 1, true) then return redis.error_reply('READONLY it is a replica of Redis') end
local run = string.match(server, 'run_id:(%x+)') or 'untold'
local replid = string.match(replication, 'master_replid:(%x+)') or ''
local former = string.match(replication, 'master_replid2:(%x+)') or ''
local startedAt = now - 1000 * (tonumber(string.match(server, 'uptime_in_seconds:(%d+)')) or 0)
-- The policy by which Redis drops what it has no room for.
local function eviction()
  local memory = info('memory')
  local policy = string.match(memory, 'maxmemory_policy:(%S+)')
  local isBounded = (tonumber(string.match(memory, 'maxmemory:(%d+)')) or 0) > 0
  return isBounded and policy ~= 'noeviction' and policy
end
-- Whether a restart of Redis keeps all that it has written.
local function durable() return string.match(info('persistence'), 'aof_enabled:(%d)') or 'untold' end
local mark = {}
local fields = redis.call('HGETALL', marker)
for i = 1, #fields, 2 do mark[fields[i]] = fields[i + 1] end
local function number(field) return tonumber(mark[field] or 0) end
local function note(field, value)
  mark[field] = tostring(value)
  return redis.pcall('HSET', marker, field, value)
end
-- The number of connected replicas; -1 where INFO is refused. A replica that reconnected may be listed twice. A tool that copies
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
if not mark.id and ARGV[8] == '' then return {'', '', 0, {'absent', eviction() or '', durable()}} end
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
-- R is fixed only by clocks that were read after the loss was found.
if isIncomplete() and not mark.lossUntil and ARGV[5] == mark.lost and ARGV[6] ~= '' then
  note('lossUntil', asked + math.max(ARGV[6], number('apart')) + ${CLOCKS_DIFFER_MS})
end
local function missing() return {'incomplete', mark.lossUntil or ''} end
local function ofAccount(kind, id) return prefix .. kind .. ':' .. string.match(id, '^[^:]*') end
-- Each change gets a version of its own.
local function changed(id)
  redis.pcall('SET', ofAccount('version', id), redis.pcall('INCR', prefix .. 'versions'), 'PX', 3 * dayMs)
end
local function drop(id)
  redis.call('DEL', prefix .. 'record:' .. id)
  for _, set in ipairs({index, pending, rejected}) do redis.call('ZREM', set, id) end
  for _, kind in ipairs({'orders', 'unsent', 'rejected'}) do redis.call('ZREM', ofAccount(kind, id), id) end
end
-- From Redis 7.2 on WAIT counts what its connection wrote last, and nothing where it only read.
local function touch() redis.call('HSET', marker, 'touched', now) end
local function taken(id)
  local key = prefix .. 'record:' .. id
  local r = redis.call('HMGET', key, 'id', 'digest', 'at', 'deadline', 'outcome', 'asked', 'sent', 'answered', 'told')
  local ends = tonumber(redis.call('ZSCORE', index, id) or 0)
  if ends <= surely then return nil end
  if not r[1] then return {'evicted'} end
  -- Its process died: from now on clients read that the outcome is unknown.
  local isOver = r[9] or tonumber(r[4]) <= now
  if r[5] == 'null' and isOver and not r[9] then
    redis.pcall('HSET', key, 'told', '1')
    changed(id)
  end
  -- What clients have read stays, even where the clock is set back.
  return {'held', r[1], r[2], r[3], isOver and 0 or tonumber(r[4]) - now, r[5], r[6] or 'null', r[7] or '', r[8] or ''}
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

/** The text of a script, of which the body is the one part of its own. */
export function script(body: string): string {
  return `${HEAD}${body}${TAIL}`;
}
