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
import { connectRedis, type RedisConnection, type RedisConnectionOptions } from './connection.ts';
import { DECLARE, HOLD, LIST, SETTLE_BY_HAND, SHOW } from './operator-scripts.ts';
import { LOOK } from './order-scripts.ts';
import { notCopied, OrderStore, RecordsAbsentError, shortOf } from './order-store.ts';
import { keyOfRecord, RECORD_VALUES, readRecord } from './record-answers.ts';
import { figureIn, textIn } from './replies.ts';
import { forgetfulness, readLook } from './store-look.ts';

interface RedisOperatorOptions extends RedisConnectionOptions {
  /** As the service has it. */
  readonly redisReplicas: number | null;
  readonly max: number;
  readonly requiresAppendonly: boolean;
}

const ORDERS_AT_ONCE = 500;
const WAIT_MS = 800;

export async function openRedisOperator(options: RedisOperatorOptions): Promise<RedisOperator> {
  const redis = await connectRedis(options);
  const operator = new RedisOperator(redis, options);
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
    const { prefix, redisReplicas } = options;
    this.#redis = redis;
    this.#options = options;
    // A command has no gateway to ask: no record ends by it, and it takes no order.
    const times = {
      clock: systemClock,
      gatewaySkewMs: () => null,
      waitMs: WAIT_MS,
      isOperator: true,
    };
    this.#store = new OrderStore(redis, redis, { prefix, redisReplicas, accounts: '', ...times });
  }

  async find(account: Account, key: string): Promise<OrderRecord | null> {
    const answer = await this.#store.run(SHOW, [recordId(account, key)]);
    return answer[0] === 'held' ? readRecord(answer) : null;
  }

  async *list(account: Account | null, onlyUnknown: boolean): AsyncIterable<StoredOrder> {
    const of = account === null ? '' : recordId(account, '');
    for (let behind = '-inf'; behind !== ''; ) {
      const values = [behind, ORDERS_AT_ONCE, of, Number(onlyUnknown)];
      const [, last, ...found] = await this.#store.run(LIST, values);
      for (let at = 0; at < found.length; at += RECORD_VALUES) {
        const [id, ...record] = found.slice(at, at + RECORD_VALUES);
        yield { ...keyOfRecord(textIn(id)), record: readRecord(['held', ...record]) };
      }
      behind = textIn(last);
    }
  }

  async settle({ account, key, outcome }: SettleRequest): Promise<SettleAnswer> {
    const values = [recordId(account, key), JSON.stringify(outcome), LATE_ANSWER_MS];
    const answer = await this.#store.write(SETTLE_BY_HAND, values);
    const [status, detail, more] = answer;
    if (status === 'none') return { kind: 'none' };
    if (status === 'early') return { kind: 'early', leftMs: figureIn(detail) };
    if (status === 'copies') throw notCopied(shortOf(figureIn(detail), figureIn(more)));
    if (status === 'evicted') throw new RecordsUnavailableError('Redis has dropped this record');
    const record = readRecord(answer);
    const isSo = isSettled(record.outcome) && agree(record.outcome, outcome);
    return { kind: isSo ? 'settled' : 'known', record };
  }

  async status(): Promise<OperatorStatus> {
    const found = await this.#store.run(LOOK, [1, 0]).catch((error: unknown) => {
      if (error instanceof RecordsAbsentError) return null;
      throw error;
    });
    if (found === null) return { held: 0, gap: null, refusedFor: new RecordsAbsentError().message };
    const { held, hasRejected, isHeld, isIncomplete, lossUntilMs, ...seen } = readLook(found);
    const { connected, durable, refusal } = seen;
    const { wanted } = this.#store;
    const { max, requiresAppendonly } = this.#options;
    const reasons = [
      refusal && `Redis refuses to write: ${refusal}`,
      requiresAppendonly ? forgetfulness(durable) : null,
      isHeld ? HELD : null,
      connected < wanted ? shortOf(connected, wanted) : null,
      held >= max && !hasRejected ? `all ${max} order records are in use` : null,
    ];
    const gap = isIncomplete ? gapReason('the order records in Redis', lossUntilMs) : null;
    return { held, gap, refusedFor: reasons.find((reason) => reason !== null) ?? null };
  }

  async declareIncomplete(): Promise<void> {
    await this.#store.write(DECLARE, []);
  }

  async hold(toHold: boolean): Promise<void> {
    await this.#store.write(HOLD, [Number(toHold)]);
  }

  close(): void {
    this.#redis.close();
  }
}
