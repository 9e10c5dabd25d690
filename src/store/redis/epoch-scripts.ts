import { COMMON, MEMORY } from './scripts.ts';

/**
 * ARGV: member, epoch to open, grace, longest wait, then what this replica remembers: how many writes there were, how many of them
 * may be of replicas that are gone, which epoch is over ('' where none is); then the settings that name the accounts, and its peers.
 */
export const JOIN = `${COMMON}${MEMORY}
local known, gone = tonumber(ARGV[5]), tonumber(ARGV[6])
local isNew = mark[1] and 0 or 1
if current == ARGV[7] then current = '' end
-- Replicas that name accounts otherwise do not find each other's orders: none begins beside the others, and to those that come after
-- them their orders are missing, unless they made none.
if mark[16] and mark[16] ~= ARGV[8] then
  redis.call('ZREM', members, ARGV[1])
  if redis.call('ZCOUNT', members, now - ARGV[4], '+inf') > 0 then return {'renamed'} end
  local former = redis.call('HMGET', marker, 'former', 'formerWrites', 'formerGapAt', 'formerMissing', 'formerMissingAt')
  if former[1] == ARGV[8] and tonumber(former[2]) == number(5) and tonumber(former[3]) == number(10) then
    mark[9], mark[10] = former[4], former[5]
  else
    redis.call('HSET', marker, 'former', mark[16], 'formerWrites', number(5), 'formerGapAt', later,
      'formerMissing', incomplete() and '2' or '0', 'formerMissingAt', number(10))
    mark[9], mark[10] = '2', later
  end
  -- In a new epoch none of the others takes an order, though it lives and was taken for dead.
  current = ''
  redis.call('HSET', marker, 'missingAt', mark[10])
end
redis.call('HSET', marker, 'accounts', ARGV[8])
if current == '' then
  local isDurable = durable() == '1'
  local isKept = mark[1] and memory[1] == mark[1] and memory[4] == '1' and memory[5] == '0'
  local since = isDurable and isKept and rememberedSince() or now
  mark[9], mark[6] = incomplete() and '2' or '0', number(5)
  redis.call('DEL', expected)
  -- No heartbeat arrives while Redis is away: the list is as the last one left it, without the dead.
  for _, peer in ipairs(redis.call('ZRANGE', members, 0, -1)) do
    redis.call('ZADD', expected, 1, peer)
  end
  mark[1], mark[2], mark[3], mark[4] = ARGV[2], run(), now + ARGV[3], now + ARGV[4]
  memory[1] = mark[1]
  redis.call('HSET', marker, 'epoch', mark[1], 'run', mark[2], 'opensAt', mark[3], 'latestAt', mark[4],
    'memoryOf', mark[1], 'begunAt', now, 'since', since, 'durable', isDurable and 1 or 0, 'gap', 0,
    'had', mark[6], 'missing', mark[9])
end
-- Fewer writes than were seen: Redis went back. Who lives gives back its own; what the others made is missing.
local isBehind = number(5) < known
local had = number(memory[1] == mark[1] and 6 or 5)
local missing = had < gone and (isBehind or recovering()) and 2 or isBehind and 1 or 0
if missing > 0 then redis.call('HSET', marker, 'missing', math.max(missing, number(9)), 'missingAt', later) end
if isBehind then redis.call('HSET', marker, 'writes', known) end
if gone > number(7) then redis.call('HSET', marker, 'gone', gone, 'goneAt', later) end
if recovering() then
  -- NX: one that has written back already is not waited for again because it is named again.
  redis.call('ZADD', expected, 'NX', 1, ARGV[1])
  for i = 9, #ARGV - 4 do redis.call('ZADD', expected, 'NX', 1, ARGV[i]) end
end
countCopies()
redis.call('ZADD', members, now, ARGV[1])
return {'joined', mark[1], isNew}
`;

/** ARGV: member, epoch. This replica's records are all there. */
export const RESTORED = `${COMMON}
if current ~= ARGV[2] then return {'foreign'} end
redis.call('ZADD', expected, 0, ARGV[1])
return {'restored'}
`;

/**
 * ARGV: member, epoch, lease. Returns how durable Redis is, the records, the time, how many
 * writes there were, how many of them may be of replicas that are gone, the gap of the records and when it ended ('' where neither is
 * known), 1 where an operator holds orders back, how many replicas of Redis are connected, the most there ever were, and the other
 * living replicas of ours.
 */
export const BEAT = `${COMMON}
local no = refusal(ARGV[2])
if no and no[1] == 'lost' then return no end
if ARGV[2] ~= '' then redis.call('ZADD', members, now, ARGV[1]) end
if redis.call('ZREMRANGEBYSCORE', members, '-inf', now - ARGV[3]) > 0 then departed() end
-- What Redis has dropped before stays in the index, which tells that there was a record.
for _, id in ipairs(redis.call('ZRANGEBYSCORE', index, '-inf', surely, 'LIMIT', 0, 1000)) do
  redis.call('DEL', named('record:') .. id)
  redis.call('ZREM', index, id)
end
if no and no[1] ~= 'recovering' then return no end
local gone = surely < number(8) + dayMs and number(7) or 0
countCopies()
return {no and no[1] or 'open', durable(), redis.call('ZCARD', index), now, number(5), gone, missingName(), missingUntil() or '', number(15),
  connected(1000), mostCopies, unpack(redis.call('ZRANGE', members, 0, 999))}
`;

/** ARGV: member, how many records it has. */
export const LEAVE = `${COMMON}
-- What it has not written back is lost with it; without a record it takes nothing along.
local isLoss = mark[1] and ARGV[2] ~= '0'
local isBehind = current == '' or redis.call('ZSCORE', expected, ARGV[1]) == '1'
if isBehind and isLoss then redis.call('HSET', marker, 'gap', 1) end
redis.call('ZREM', members, ARGV[1])
-- Also where it was taken for dead before its last write.
if isLoss then departed() end
redis.call('ZREM', expected, ARGV[1])
return {'left'}
`;
