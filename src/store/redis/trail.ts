import type { TrailStore } from '../order-trail.ts';
import type { OrderScripts } from './order-scripts.ts';
import { textIn } from './replies.ts';
import { COMMON } from './scripts.ts';

const DAY_MS = 86_400_000;
/** And never more than a tenth of what Redis may have in memory. */
const MAX_BYTES = 256 * 1024 ** 2;
const ENTRIES_AT_ONCE = 1_000;

/** A stream that all replicas share. At the bound the oldest entries go first. */
export function redisTrail(scripts: OrderScripts, days: number, maxBytes = MAX_BYTES): TrailStore {
  const keys = scripts.trail;
  return {
    async append(lines) {
      await scripts.run(APPEND, [days * DAY_MS, maxBytes, ...lines], keys);
    },
    async *scan(prefix) {
      for (let after = '0'; after !== ''; ) {
        const read = await scripts.run(READ, [after, prefix, ENTRIES_AT_ONCE], keys);
        const [, last, ...lines] = read.map(textIn);
        yield* lines;
        after = textIn(last);
      }
    },
  };
}

/** Entries whose answer was lost come again for about a minute. */
const REPEATED_MS = 120_000;

/** KEYS 5: the stream, 6: how many bytes it has. ARGV: how long an entry is kept, the most bytes, then the entries. */
const APPEND = `${COMMON}
local appended = named('trail-appended:' .. redis.sha1hex(table.concat(ARGV, '\\n', 3, #ARGV - 4)))
if redis.call('GET', appended) then return {'appended'} end
local stream, bytes = KEYS[5], tonumber(redis.call('GET', KEYS[6]) or 0)
local info = redis.pcall('INFO', 'memory')
local memory = tonumber(type(info) == 'string' and string.match(info, 'maxmemory:(%d+)') or 0)
local most = tonumber(ARGV[2])
if memory > 0 then most = math.min(most, memory / 10) end
-- An entry takes some bytes more than its text.
local function sizeOf(text) return #text + 64 end
for i = 3, #ARGV - 4 do
  redis.call('XADD', stream, '*', 'entry', ARGV[i])
  bytes = bytes + sizeOf(ARGV[i])
end
-- More than have come, and never so many that orders wait.
for _ = 1, 2 * #ARGV do
  local entry = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
  local isOver = entry and tonumber(string.match(entry[1], '^%d+')) + ARGV[1] < surely
  if not entry or not isOver and bytes <= most then break end
  redis.call('XDEL', stream, entry[1])
  bytes = bytes - sizeOf(entry[2][2])
end
redis.call('SET', KEYS[6], bytes)
redis.call('SET', appended, 1, 'PX', ${REPEATED_MS})
return {'appended'}
`;

/** KEYS 5: the stream. ARGV: the id behind which to look, what entries begin with, how many to look at. Answers the last id first, '' at the end. */
const READ = `
local found = {'read', ''}
for _, entry in ipairs(redis.call('XRANGE', KEYS[5], ARGV[1], '+', 'COUNT', ARGV[3])) do
  if entry[1] ~= ARGV[1] then
    found[2] = entry[1]
    if string.sub(entry[2][2], 1, #ARGV[2]) == ARGV[2] then found[#found + 1] = entry[2][2] end
  end
end
return found
`;
