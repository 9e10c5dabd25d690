import type { Account } from '../../lib/account.ts';
import { systemClock } from '../../lib/clock.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import { unmeasuredDates } from '../dates.ts';
import type { FoundOrder, OperatorRecords, StoredOrder } from '../operator-records.ts';
import {
  type RecordedOutcome,
  type RecordsStatus,
  type Reservation,
  recordId,
} from '../order-records.ts';
import type { Refusal } from '../refusals.ts';
import { type FoundRecord, keyOfRecord, recordOf } from './answers.ts';
import type { RedisOrderRecordsOptions } from './order-store.ts';
import { openRedisOrderRecords, type RedisOrderRecords } from './redis-records.ts';
import { script } from './script-head.ts';

const ORDERS_AT_ONCE = 500;

/** Reads the record of a key for an operator, even if other records may be missing. */
const SHOW = script<FoundRecord | Refusal | { readonly kind: 'none' }>(
  `return liveRecord(name) or {kind = 'none'}`,
);

/**
 * Lists records in the order of their ends. `after`: `last` of the previous page; `prefix`: the prefix of the ids. Without
 * `last` there are no more pages.
 */
const LIST = script<{
  readonly kind: 'found';
  readonly last?: string;
  readonly orders?: readonly { readonly id: string; readonly record: FoundRecord }[];
}>(`
local page = redis.call('ZRANGEBYSCORE', index, '(' .. given.after, '+inf', 'WITHSCORES', 'LIMIT', 0, given.pageSize)
if #page == 0 then return {kind = 'found'} end
local last, orders = page[#page], {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', index, '(' .. given.after, last)) do
  local record = string.sub(id, 1, #given.prefix) == given.prefix and liveRecord(id)
  if record and record.kind == 'record' then orders[#orders + 1] = {id = id, record = record} end
end
return {kind = 'found', last = last, orders = #orders > 0 and orders or nil} -- An empty table would become an object in JSON.
`);

/** Stops or resumes the sending of orders in every process. */
const HOLD = script<{ readonly kind: 'declared' }>(`
touch()
setMark('held', given.isHeld and 1 or 0)
return {kind = 'declared'}
`);

/** Notes an operator's declaration that records are missing. */
export const DECLARE = script<{ readonly kind: 'declared' }>(`
touch()
noteLoss()
return {kind = 'declared'}
`);

/** Throws a StoreError if no process of the service has used the prefix, or if Redis was emptied. */
export async function openRedisOperator(
  options: Omit<RedisOrderRecordsOptions, 'clock' | 'dates'>,
): Promise<RedisOperator> {
  // The command line has not measured the gateway's clock, so it expires no record.
  const dates = () => unmeasuredDates(systemClock.date());
  const inspection = { clock: systemClock, dates, isInspection: true };
  const records = await openRedisOrderRecords({ ...options, ...inspection });
  const failure = await records.look();
  if (failure === null) return new RedisOperator(records);
  await records.close();
  throw failure;
}

/** The order records of all processes that share a Redis, for operators. */
class RedisOperator implements OperatorRecords {
  readonly copyTo = null;
  readonly #records: RedisOrderRecords;

  constructor(records: RedisOrderRecords) {
    this.#records = records;
  }

  async find(account: Account, key: string): Promise<FoundOrder | null> {
    const found = await this.#records.store.run(SHOW, { name: recordId(account, key) });
    return found.kind === 'record' ? { ...recordOf(found), overdueMs: found.overdueMs } : null;
  }

  async *list(account: Account | null): AsyncIterable<StoredOrder> {
    const prefix = account === null ? '' : recordId(account, '');
    const query = { pageSize: ORDERS_AT_ONCE, prefix };
    let page = await this.#records.store.run(LIST, { ...query, after: '-inf' });
    while (page.last !== undefined) {
      const { last: after, orders = [] } = page;
      for (const { id, record } of orders) yield { ...keyOfRecord(id), record: recordOf(record) };
      page = await this.#records.store.run(LIST, { ...query, after });
    }
  }

  settle(reservation: Reservation, outcome: RecordedOutcome): Promise<unknown> {
    return this.#records.settle(reservation, outcome);
  }

  async status(): Promise<RecordsStatus> {
    await this.#records.look();
    const { degradedReason, ...status } = this.#records.status;
    return { ...status, degradedReason: degradedReason ?? this.#records.copiesReason() };
  }

  async declareIncomplete(): Promise<void> {
    await this.#records.store.write(DECLARE, {});
  }

  async hold(isHeld: boolean): Promise<void> {
    await this.#records.store.write(HOLD, { isHeld });
  }

  close(): void {
    fireAndForget('redis', this.#records.close());
  }
}
