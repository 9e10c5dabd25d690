import type { OperatorRecords } from '../operator-records.ts';
import { RecordsUnavailableError, recordId } from '../order-records.ts';
import { agree, isSettled, LATE_ANSWER_MS } from '../settlement.ts';
import { NotCopiedError, shortOf } from './copies.ts';
import {
  connectOperator,
  DECLARE,
  FREE,
  HOLD,
  type RedisOperatorOptions,
  readOrderStatus,
} from './order-status.ts';
import { keyOfRecord, readRecord } from './record-answers.ts';
import { figureIn, textIn } from './replies.ts';
import { COMMON } from './scripts.ts';

const ORDERS_AT_ONCE = 500;
/** The script's answers for each order: its id, then the answer of a record. */
const FIELDS = 8;

/** The order records of all replicas that share a Redis, for operators. */
export async function operatorRedis(options: RedisOperatorOptions): Promise<OperatorRecords> {
  const connected = await connectOperator(options);
  const { scripts, writes, close } = connected;
  return {
    async find(account, key) {
      const keys = scripts.keysOf({ account, key });
      const answer = await scripts.run(LOOK, [recordId(account, key)], keys);
      return answer[0] === 'held' ? readRecord(answer) : null;
    },
    async *list(account, onlyUnknown) {
      const of = account === null ? '' : recordId(account, '');
      for (let behind = '-inf'; behind !== ''; ) {
        const args = [behind, ORDERS_AT_ONCE, of, onlyUnknown ? 1 : 0];
        const [, last, ...found] = await scripts.run(LIST, args);
        for (let at = 0; at < found.length; at += FIELDS) {
          const record = readRecord(found.slice(at + 1, at + FIELDS));
          yield { ...keyOfRecord(textIn(found[at])), record };
        }
        behind = textIn(last);
      }
    },
    async settle({ account, key, outcome }) {
      const args = [recordId(account, key), JSON.stringify(outcome), LATE_ANSWER_MS];
      const keys = scripts.keysOf({ account, key });
      const { answer, copied } = await writes.runCopied(SETTLE, args, keys);
      const [status, left, wanted] = answer;
      if (status === 'none') return { kind: 'none' };
      if (status === 'early') return { kind: 'early', leftMs: figureIn(left) };
      if (status === 'copies') throw new NotCopiedError(shortOf(figureIn(left), figureIn(wanted)));
      if (status !== 'held' && status !== 'settled') {
        throw new RecordsUnavailableError(`Redis cannot say it now (${status})`);
      }
      // Nobody is told of what a failover would take back.
      await copied();
      const record = readRecord(answer);
      const isSo = isSettled(record.outcome) && agree(record.outcome, outcome);
      return { kind: isSo ? 'settled' : 'known', record };
    },
    async status(declared) {
      if (declared !== null) {
        const { copied } = await writes.runCopied(DECLARE, [declared === 'complete' ? 0 : 2], []);
        await copied();
      }
      return readOrderStatus(connected, options);
    },
    async free(account) {
      const [, freed] = await scripts.run(FREE, [], Object.values(scripts.sharesOf(account)));
      return figureIn(freed);
    },
    async hold(toHold) {
      const { answer, copied } = await writes.runCopied(HOLD, [toHold ? 1 : 0], []);
      await copied();
      return figureIn(answer[1]) > 0;
    },
    file: null,
    close,
  };
}

/** ARGV: id. */
const LOOK = `${COMMON}
return taken(KEYS[5], ARGV[1], KEYS[7]) or {'none'}
`;

/** ARGV: id, the outcome, how long past its deadline an answer may come. The first word of an operator counts, and is written once more for WAIT. */
const SETTLE = `${COMMON}
if current == '' then return {'lost'} end
if recovering() then return {'recovering'} end
local held = taken(KEYS[5], ARGV[1], KEYS[7])
if not held or held[1] ~= 'held' then return held or {'none'} end
local record = redis.call('HMGET', KEYS[5], 'rank', 'deadline')
if record[1] == '2' then
  redis.call('HSET', KEYS[5], 'epoch', current)
  return held
end
local left = tonumber(record[2]) + ARGV[3] - now
if left > 0 then return {'early', left} end
if tooFew() then return tooFew() end
redis.call('HSET', KEYS[5], 'rank', 2, 'outcome', ARGV[2])
redis.call('ZREM', pending, ARGV[1])
changed(KEYS[7], ARGV[1])
held[1], held[6] = 'settled', ARGV[2]
return held
`;

/**
 * ARGV: the end behind which to look, how many to look at, what their ids begin with, 1 where the unknown alone are asked for. Those
 * that end in one millisecond are looked at together, as any of them may be gone before the next look. Answers the end behind which
 * to go on ('' at the end), then id and record of each.
 */
const LIST = `${COMMON}
local found = {'found', ''}
local page = redis.call('ZRANGEBYSCORE', index, '(' .. ARGV[1], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[2])
if #page > 0 then
  found[2] = page[#page]
  page = redis.call('ZRANGEBYSCORE', index, '(' .. ARGV[1], found[2])
end
for _, id in ipairs(page) do
  local held = string.sub(id, 1, #ARGV[3]) == ARGV[3] and taken(named('record:') .. id, id, named('version:') .. string.match(id, '^[^:]*'))
  if held and held[1] == 'held' then
    local isUnknown = held[6] == 'null' and held[5] == 0 or string.sub(held[6], 1, 17) == '{"kind":"unknown"'
    if isUnknown or ARGV[4] == '0' then
      found[#found + 1] = id
      for n = 1, 7 do found[#found + 1] = held[n] end
    end
  end
end
return found
`;
