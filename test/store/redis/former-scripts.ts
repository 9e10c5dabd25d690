/** The scripts of the order records as the version wrote them that could not close a key, to the letter. */
const COMMON = `
local marker, members, expected, index = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local function run()
  local info = redis.pcall('INFO', 'server')
  return type(info) == 'string' and string.match(info, 'run_id:(%x+)') or 'untold'
end
local mark = redis.call('HMGET', marker, 'epoch', 'run', 'opensAt', 'latestAt')
-- Empty where Redis may have lost something, and nobody has begun a new epoch yet.
local current = mark[2] == run() and mark[1] or ''
local function recovering()
  local isIncomplete = redis.call('ZCOUNT', expected, 1, 1) > 0
  return tonumber(isIncomplete and mark[4] or mark[3]) > now
end
local function refusal(epoch)
  if current == '' then return {'lost'} end
  if current ~= epoch then return {'foreign'} end
  return recovering() and {'recovering'} or nil
end
-- Never the same twice, so that whoever has seen one knows of every later change. As long as a record.
local function changed(version, id)
  redis.pcall('SET', version, clock[1] .. '.' .. clock[2] .. ' ' .. id, 'PX', 86400000)
end
local function taken(key, id, version)
  local r = redis.call('HMGET', key,
    'reservation', 'canonical', 'at', 'deadline', 'outcome', 'epoch', 'member', 'told')
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
  return {'held', r[1], r[2], r[3], math.max(0, tonumber(r[4]) - now), r[5]}
end
`;

export const JOIN = `${COMMON}
if current == '' then
  redis.call('DEL', expected)
  -- No heartbeat arrives while Redis is away: the list is as the last one left it, without the dead.
  for _, peer in ipairs(redis.call('ZRANGE', members, 0, -1)) do
    redis.call('ZADD', expected, 1, peer)
  end
  mark = {ARGV[2], run(), now + ARGV[3], now + ARGV[4]}
  redis.call('HSET', marker, 'epoch', mark[1], 'run', mark[2], 'opensAt', mark[3], 'latestAt', mark[4])
end
if recovering() then
  -- NX: one that has written back already is not waited for again because it is named again.
  redis.call('ZADD', expected, 'NX', 1, ARGV[1])
  for i = 5, #ARGV do redis.call('ZADD', expected, 'NX', 1, ARGV[i]) end
end
redis.call('ZADD', members, now, ARGV[1])
return {'joined', mark[1]}
`;

export const RESTORED = `${COMMON}
if current ~= ARGV[2] then return {'foreign'} end
redis.call('ZADD', expected, 0, ARGV[1])
return {'restored'}
`;

export const RESERVE = `${COMMON}
local key, account, id = KEYS[5], KEYS[6], ARGV[2]
local no = refusal(ARGV[1]) or taken(key, id, KEYS[7])
if no then return no end
-- No write before this: after any write Redis would let the script exceed its memory.
local count = redis.call('ZCARD', index)
if count >= tonumber(ARGV[9]) then return {'full'} end
local own = redis.call('ZCOUNT', account, '(' .. now, '+inf')
local past = redis.call('ZCARD', account) - own
if own >= tonumber(ARGV[10]) then
  local oldest = redis.call('ZRANGE', account, past, past, 'WITHSCORES')
  return {'account-full', math.ceil(oldest[2] - now)}
end
redis.call('HSET', key, 'epoch', current, 'member', ARGV[3], 'reservation', ARGV[4],
  'canonical', ARGV[5], 'at', ARGV[6], 'deadline', now + ARGV[7], 'rank', 0, 'outcome', 'null')
redis.call('PEXPIREAT', key, now + ARGV[8])
redis.call('ZADD', index, now + ARGV[8], id)
if past > 0 then redis.call('ZREMRANGEBYSCORE', account, '-inf', now) end
redis.call('ZADD', account, now + ARGV[8], id)
redis.call('PEXPIREAT', account, now + ARGV[8])
return {'reserved', count + 1, own + 1}
`;

export const FIND = `${COMMON}
return refusal(ARGV[1]) or taken(KEYS[5], ARGV[2], KEYS[7]) or {'none'}
`;

export const RELEASE = `${COMMON}
local record = redis.call('HMGET', KEYS[5], 'reservation', 'rank', 'deadline')
if record[1] == ARGV[2] and record[2] == '0' then
  -- Redis's clock has the last word on whether its time is over.
  if tonumber(record[3]) <= now then
    redis.call('HSET', KEYS[5], 'epoch', current)
    return {'late'}
  end
  redis.call('DEL', KEYS[5])
  redis.call('ZREM', index, ARGV[1])
  redis.call('ZREM', KEYS[6], ARGV[1])
end
return {'released'}
`;

export const MERGE = `${COMMON}
-- A replica with much to write back is waited for as long as it goes on writing.
if current == ARGV[1] and recovering() then redis.call('HSET', marker, 'latestAt', now + ARGV[2]) end
local conflicts = 0
for i = 5, #KEYS, 3 do
  local key, account, base = KEYS[i], KEYS[i + 1], 3 + (i - 5) * 3
  local id, reservation, rank = ARGV[base + 1], ARGV[base + 2], tonumber(ARGV[base + 7])
  local have = redis.call('HMGET', key, 'reservation', 'rank', 'epoch')
  -- Another one that nobody has written back was given back before ours was made: Redis lost both writes.
  local isPast = have[1] ~= reservation and have[2] == '0' and have[3] and have[3] ~= current
  if isPast or not have[1] then
    local ends = now + ARGV[base + 6]
    redis.call('HSET', key, 'epoch', current, 'member', ARGV[3], 'reservation', reservation,
      'canonical', ARGV[base + 3], 'at', ARGV[base + 4], 'deadline', now + ARGV[base + 5],
      'rank', rank, 'outcome', ARGV[base + 8])
    redis.call('PEXPIREAT', key, ends)
    redis.call('ZADD', index, ends, id)
    redis.call('ZADD', account, ends, id)
    if redis.call('PTTL', account) < ends - now then redis.call('PEXPIREAT', account, ends) end
    if ARGV[base + 9] == '1' then changed(KEYS[i + 2], id) end
  elseif have[1] ~= reservation then
    conflicts = conflicts + 1
  else
    redis.call('HSET', key, 'epoch', current)
    -- What was sent on a connection before this one may arrive only now.
    if tonumber(have[2]) < rank then
      redis.call('HSET', key, 'rank', rank, 'outcome', ARGV[base + 8])
      if ARGV[base + 9] == '1' then changed(KEYS[i + 2], id) end
    end
  end
end
return {'merged', conflicts}
`;
