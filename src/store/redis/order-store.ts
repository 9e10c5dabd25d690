import type { Account } from '../../lib/account.ts';
import type { Clock } from '../../lib/clock.ts';
import { datesOf } from '../order-gap.ts';
import { RecordsUnavailableError } from '../order-records.ts';
import type { RedisConnection } from './connection.ts';
import { answerIn, figureIn, textIn } from './replies.ts';

/** It is written, but a replica of Redis without it may be promoted. */
export class NotCopiedError extends RecordsUnavailableError {}

/** No process of the service has used the prefix, or Redis was emptied. */
export class RecordsAbsentError extends RecordsUnavailableError {
  override readonly message = 'Redis has no order records under this REDIS_PREFIX';
  /** As `StoreLook` has them. */
  readonly eviction: string | null;
  readonly durable: string | null;

  constructor(eviction: string | null = null, durable: string | null = null) {
    super();
    this.eviction = eviction;
    this.durable = durable;
  }
}

interface OrderStoreOptions {
  readonly prefix: string;
  readonly clock: Clock;
  /** How many replicas of Redis must have a record; null for the most that were ever seen. */
  readonly redisReplicas: number | null;
  readonly accounts: string;
  readonly gatewaySkewMs: () => number | null;
  readonly waitMs: number;
  /** When true, a missing store is not created. */
  readonly isOperator?: boolean;
}

export type Values = readonly (string | number)[];

interface Write extends PromiseWithResolvers<readonly unknown[]> {
  readonly script: string;
  readonly values: Values;
}

const BATCH = 100;
const LATE_MS = 5_000;
/** Answers that count only once enough replicas of Redis have what the script wrote. */
const WRITTEN = new Set(['reserved', 'written', 'settled', 'released', 'late', 'declared']);

/** Runs the scripts of the order records, and remembers which store and which loss this process has seen. */
export class OrderStore {
  readonly marker: string;
  readonly #options: OrderStoreOptions;
  readonly #redis: RedisConnection;
  readonly #writer: RedisConnection;
  readonly #writes: Write[] = [];
  #isWriting = false;
  #id = '';
  #loss = '';
  #lateAtMs = Number.NEGATIVE_INFINITY;
  #wanted = 0;

  /** `writer`: a connection of its own, since WAIT blocks it. */
  constructor(redis: RedisConnection, writer: RedisConnection, options: OrderStoreOptions) {
    this.#redis = redis;
    this.#writer = writer;
    this.#options = options;
    // In braces: all keys of a script on one node, should Redis be a cluster behind a proxy.
    this.marker = `${options.prefix}{orders}:v2:marker`;
  }

  /** The name of the newest loss that this process knows of; empty where there is none. */
  get loss(): string {
    return this.#loss;
  }

  /** How many replicas of Redis must have what is written, as far as this process knows. */
  get wanted(): number {
    return this.#options.redisReplicas ?? this.#wanted;
  }

  /** Whether a write reached too few replicas lately, although they are connected. */
  get isLate(): boolean {
    return this.#options.clock.now() - this.#lateAtMs < LATE_MS;
  }

  versionOf(account: Account): string {
    return `${this.#options.prefix}{orders}:v2:version:${encodeURIComponent(account)}`;
  }

  run(script: string, values: Values): Promise<readonly unknown[]> {
    return this.#run(this.#redis, script, values);
  }

  /**
   * Runs a script, and resolves once enough replicas of Redis have what it wrote. WAIT counts what its connection wrote last, and blocks
   * it: scripts that come meanwhile are sent together.
   */
  write(script: string, values: Values): Promise<readonly unknown[]> {
    const write = { script, values, ...Promise.withResolvers<readonly unknown[]>() };
    this.#writes.push(write);
    this.#send();
    return write.promise;
  }

  #send(): void {
    if (this.#isWriting || this.#writes.length === 0) return;
    this.#isWriting = true;
    const batch = this.#writes.splice(0, BATCH);
    // In one turn: the scripts and WAIT go out together.
    const answers = batch.map(({ script, values }) => this.#run(this.#writer, script, values));
    const { wanted } = this;
    const waited =
      wanted === 0 ? Promise.resolve(0) : this.#writer.copies(wanted, this.#options.waitMs);
    // Without an answer there is no proof that it is anywhere else.
    const copies = waited.catch(() => 0);
    for (const [n, { resolve, reject }] of batch.entries()) {
      Promise.all([answers[n], copies]).then(([answer = [], have]) => {
        // The scripts may have counted more replicas than this process knew of.
        if (have >= this.wanted || !isWritten(answer)) return resolve(answer);
        this.#lateAtMs = this.#options.clock.now();
        reject(notCopied(`${have} of ${this.wanted} replicas of Redis have it in time`));
      }, reject);
    }
    const sendNext = () => {
      this.#isWriting = false;
      this.#send();
    };
    copies.then(sendNext, sendNext);
  }

  async #run(redis: RedisConnection, script: string, values: Values): Promise<readonly unknown[]> {
    const { clock, accounts, redisReplicas, gatewaySkewMs, isOperator } = this.#options;
    const { judgedMs, laterMs, surelyMs, differMs } = datesOf(clock.date(), gatewaySkewMs());
    const common = [
      redisReplicas ?? '',
      Math.ceil(laterMs),
      surelyMs === null ? '' : Math.floor(surelyMs),
      this.#id,
      this.#loss,
      differMs ?? '',
      accounts,
      isOperator ? '' : Math.floor(judgedMs),
    ];
    const reply = await redis.run(script, [this.marker], [...common, ...values]);
    const [id, loss, wanted, answer] = Array.isArray(reply) ? reply : [];
    if (Array.isArray(answer) && answer[0] === 'absent') {
      throw new RecordsAbsentError(textIn(answer[1]) || null, textIn(answer[2]));
    }
    const read = answerIn(script, answer);
    this.#id = textIn(id);
    this.#loss = textIn(loss);
    this.#wanted = Math.max(this.#wanted, figureIn(wanted));
    return read;
  }
}

/** A closed key counts as a write: a failover would open it again. */
function isWritten([status, , digest]: readonly unknown[]): boolean {
  return WRITTEN.has(String(status)) || (status === 'held' && digest === '');
}

export function notCopied(message: string): NotCopiedError {
  return new NotCopiedError(message, { earlierUnknown: false });
}

/** Says for operators and clients which replicas are missing. */
export function shortOf(connected: number, wanted: number): string {
  if (connected < 0) {
    return 'Redis does not tell how many replicas it has (it refuses INFO): set REDIS_REPLICAS';
  }
  return `${connected} of ${wanted} replicas of Redis are connected, and a failover would forget orders (REDIS_REPLICAS)`;
}
