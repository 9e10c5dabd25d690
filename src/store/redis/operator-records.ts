import type { Account } from '../../lib/account.ts';
import { systemClock } from '../../lib/clock.ts';
import type { OperatorRecords, OperatorStatus } from '../operator-records.ts';
import { gapReason } from '../order-gap.ts';
import { HELD, type OrderRecord, RecordsUnavailableError, recordId } from '../order-records.ts';
import {
  agree,
  isSettled,
  LATE_ANSWER_MS,
  type SettleAnswer,
  type SettleRequest,
  type StoredOrder,
} from '../settlement.ts';
import { keyOfRecord, recordOf } from './answers.ts';
import { connectRedis, type RedisConnection } from './connection.ts';
import { DECLARE, HOLD, LIST, SETTLE_BY_HAND, SHOW } from './operator-scripts.ts';
import { OrderStore, type OrderStoreOptions, RecordsAbsentError } from './order-store.ts';
import { LOOK, refusalOf, type StoreLook, shortOf } from './store-look.ts';

interface RedisOperatorOptions extends Omit<OrderStoreOptions, 'clock'> {
  readonly max: number;
}

const ORDERS_AT_ONCE = 500;

export async function openRedisOperator(options: RedisOperatorOptions): Promise<RedisOperator> {
  const operator = new RedisOperator(await connectRedis(options), options);
  try {
    await operator.status();
    return operator;
  } catch (error) {
    operator.close();
    throw error;
  }
}

/** The order records of all processes that share a Redis, for operators. */
class RedisOperator implements OperatorRecords {
  readonly copyTo = null;
  readonly #redis: RedisConnection;
  readonly #store: OrderStore;
  readonly #options: RedisOperatorOptions;

  constructor(redis: RedisConnection, options: RedisOperatorOptions) {
    this.#redis = redis;
    this.#options = options;
    // A command has no gateway whose clock it could measure: no record ends by it.
    const store = { ...options, clock: systemClock, isInspection: true };
    this.#store = new OrderStore(redis, redis, store);
  }

  async find(account: Account, key: string): Promise<OrderRecord | null> {
    const found = await this.#store.run(SHOW, { name: recordId(account, key) });
    return found.kind === 'held' ? recordOf(found) : null;
  }

  async *list(account: Account | null, onlyUnknown: boolean): AsyncIterable<StoredOrder> {
    const prefix = account === null ? '' : recordId(account, '');
    const asked = { most: ORDERS_AT_ONCE, prefix, onlyUnknown };
    let page = await this.#store.run(LIST, { ...asked, after: '-inf' });
    while (page.last !== undefined) {
      const { last: after, orders = [] } = page;
      for (const { id, record } of orders) yield { ...keyOfRecord(id), record: recordOf(record) };
      page = await this.#store.run(LIST, { ...asked, after });
    }
  }

  async settle({ account, key, outcome }: SettleRequest): Promise<SettleAnswer> {
    const answer = await this.#store.write(SETTLE_BY_HAND, {
      name: recordId(account, key),
      outcome: JSON.stringify(outcome),
      lateMs: LATE_ANSWER_MS,
    });
    switch (answer.kind) {
      case 'none':
      case 'early':
        return answer;
      case 'evicted':
        throw new RecordsUnavailableError('Redis has dropped this record');
      case 'copies':
        throw new RecordsUnavailableError(shortOf(answer.have, answer.wanted) ?? undefined);
      case 'held': {
        const record = recordOf(answer);
        const isSo = isSettled(record.outcome) && agree(record.outcome, outcome);
        return { kind: isSo ? 'settled' : 'known', record };
      }
    }
  }

  async status(): Promise<OperatorStatus> {
    let look: StoreLook;
    try {
      look = await this.#store.run(LOOK, { seen: 0 });
    } catch (error) {
      if (!(error instanceof RecordsAbsentError)) throw error;
      return { held: 0, gap: null, refusedFor: error.message };
    }
    const { held, isHeld, isIncomplete, lossUntilMs = null, connected } = look;
    const hold = isHeld ? HELD : null;
    return {
      held,
      refusedFor: refusalOf(look, this.#options) ?? hold ?? shortOf(connected, this.#store.wanted),
      gap: isIncomplete ? gapReason('the order records in Redis', lossUntilMs) : null,
    };
  }

  async declareIncomplete(): Promise<void> {
    await this.#store.write(DECLARE, {});
  }

  async hold(isHeld: boolean): Promise<void> {
    await this.#store.write(HOLD, { isHeld });
  }

  close(): void {
    this.#redis.close();
  }
}
