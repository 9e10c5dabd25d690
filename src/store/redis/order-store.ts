import { randomUUID } from 'node:crypto';
import { type Account, textOf } from '../../lib/account.ts';
import type { Clock } from '../../lib/clock.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import type { Dates } from '../dates.ts';
import { timeFault } from '../key-rule.ts';
import { type RecordBounds, recordQuota } from '../record-shares.ts';
import { RecordsUnavailableError } from '../refusals.ts';
import { StoreError } from '../store-error.ts';
import {
  type RedisConnection,
  type RedisConnectionOptions,
  RedisSilentError,
} from './connection.ts';
import type { Script } from './script-head.ts';

/** Redis has the write, but too few of its replicas do: one without it may be promoted, or was, and has other records. */
export class NotCopiedError extends RecordsUnavailableError {}

/** No process of the service has used the prefix, or Redis was emptied. */
export class RecordsAbsentError extends StoreError {
  /** Whether a restart of Redis loses nothing. */
  readonly isDurable: boolean;

  constructor(isDurable: boolean) {
    super('Redis has no order records under this REDIS_PREFIX');
    this.isDurable = isDurable;
  }
}

/** The keys have another format than the one of this version. */
export class ForeignVersionError extends RecordsUnavailableError {}

export interface RedisOrderRecordsOptions extends RedisConnectionOptions, RecordBounds {
  readonly clock: Clock;
  /** How many replicas of Redis must have a record; null for the most that were ever seen. */
  readonly redisReplicas: number | null;
  /** Whether orders are refused if a restart of Redis would lose records. */
  readonly requiresAppendonly: boolean;
  /** The dates of the present moment. */
  readonly dates: () => Dates;
  /** When true, a missing store is not created. */
  readonly isInspection?: boolean;
  /** When true, a new store takes keys of any time. */
  readonly takesOldKeys?: boolean;
}

type Values = Readonly<Record<string, string | number | boolean | undefined>>;

interface StoreReply<Answer> {
  /** The ids of losses, the newest first; only the newest if the process knows it. */
  readonly losses: string;
  /** Whether this script has found the newest. */
  readonly isLoss: boolean;
  /** The most replicas of Redis that were ever seen connected. */
  readonly copies: number;
  /** Whether an operator holds orders back. */
  readonly isHeld: boolean;
  /** Whether the answer counts only once enough replicas have the script's writes. */
  readonly isWrite: boolean;
  readonly answer: Answer;
}

interface Write {
  readonly run: () => Promise<StoreReply<unknown>>;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

const FOREIGN_VERSION =
  'another version of this program has written the order records: use another REDIS_PREFIX';
const LOSS =
  'Redis may lack orders, because it was restarted, promoted, emptied or replaced: keys that were made before now are refused if they have no record';
const MAX_BATCH = 100;
const LATE_MS = 5_000; // How long one late write makes `isLate` true.

/** Runs the scripts of the order records, and remembers which loss of records this process has seen. */
export class OrderStore {
  readonly marker: string;
  /** The prefix of all keys of the order records. */
  readonly #root: string;
  readonly #options: RedisOrderRecordsOptions;
  readonly #redis: RedisConnection;
  readonly #writer: RedisConnection;
  readonly #writes: Write[] = [];
  #isWriting = false;
  #loss: string | undefined;
  /** The loss that is known to be on enough replicas of Redis. */
  #confirmedLoss: string | undefined;
  /** The loss that was counted last. */
  #countedLoss: string | undefined;
  /** The latest date by which this process has judged a key. */
  #mostJudgedMs = 0;
  #losses = 0;
  /** Written back if a loss has taken it. */
  #isHeld = false;
  #lateAtMs = Number.NEGATIVE_INFINITY;
  #knownCopies = 0;

  /** `writer` is a separate connection, because WAIT blocks it. */
  constructor(redis: RedisConnection, writer: RedisConnection, options: RedisOrderRecordsOptions) {
    this.#redis = redis;
    this.#writer = writer;
    this.#options = options;
    // The braces keep all keys of a script on one node if a proxy hides a cluster.
    this.#root = `${options.prefix}{orders}:`;
    this.marker = `${this.#root}marker`;
  }

  /** How many losses of records this process has seen. */
  get losses(): number {
    return this.#losses;
  }

  /** Whether the latest loss is on enough replicas of Redis, so that its end can be decided. */
  get isLossConfirmed(): boolean {
    return this.#loss !== undefined && this.#loss === this.#confirmedLoss;
  }

  /** How many replicas of Redis must have each write, as far as this process knows. */
  get wanted(): number {
    return this.#options.redisReplicas ?? this.#knownCopies;
  }

  /** Whether, within the last seconds, a write reached too few replicas of Redis in time. */
  get isLate(): boolean {
    return this.#options.clock.now() - this.#lateAtMs < LATE_MS;
  }

  versionOf(account: Account): string {
    return `${this.#root}version:${encodeURIComponent(textOf(account))}`;
  }

  async run<Answer>(script: Script<Answer>, values: Values): Promise<Answer> {
    const { answer } = await this.#run(this.#redis, script, values);
    return answer;
  }

  /**
   * Runs a script, and resolves once enough replicas of Redis have its writes. WAIT counts the latest write of its
   * connection, and blocks the connection. Scripts that are queued during that time are sent together.
   */
  write<Answer>(script: Script<Answer>, values: Values): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#writes.push({ run: () => this.#run(this.#writer, script, values), resolve, reject });
    if (!this.#isWriting) fireAndForget('redis', this.#sendAll());
    return promise as Promise<Answer>;
  }

  async #sendAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#writes.length > 0) await this.#sendTogether(this.#writes.splice(0, MAX_BATCH));
    this.#isWriting = false;
  }

  async #sendTogether(batch: readonly Write[]): Promise<void> {
    // No await in between: calls in one turn of the event loop are sent together.
    const sent = batch.map(({ run, resolve, reject }) => ({ reply: run(), resolve, reject }));
    const copies = this.#copies();
    for (const { reply: replied, resolve, reject } of sent) {
      Promise.all([replied, copies]).then(([reply, have]) => {
        // `wanted` is read again, because the scripts may have raised it.
        const isConfirmed = have >= this.wanted;
        if (reply.isWrite && isConfirmed) [this.#confirmedLoss] = reply.losses.split(' ');
        if (!reply.isWrite || isConfirmed) return resolve(reply.answer);
        this.#lateAtMs = this.#options.clock.now();
        const message = `${have} of ${this.wanted} replicas of Redis have it in time`;
        reject(new NotCopiedError(message));
      }, reject);
    }
    await copies;
  }

  /** How many replicas of Redis have the latest writes. */
  async #copies(): Promise<number> {
    if (this.wanted === 0) return 0;
    // Without an answer it is unknown whether any replica has the writes.
    return this.#writer.copies(this.wanted).catch(() => 0);
  }

  async #run<Answer>(
    redis: RedisConnection,
    { text }: Script<Answer>,
    values: Values,
  ): Promise<StoreReply<Answer>> {
    const { accounts, redisReplicas, requiresAppendonly, isInspection } = this.#options;
    const dates = this.#options.dates();
    const { madeMs } = values;
    const fault = typeof madeMs === 'number' ? timeFault(madeMs, dates) : undefined;
    if (fault === null) this.#mostJudgedMs = Math.max(this.#mostJudgedMs, dates.judgedMs);
    const given = {
      replicas: redisReplicas ?? undefined,
      laterMs: dates.laterMs,
      earlierMs: dates.earlierMs ?? undefined,
      judgedMs: dates.judgedMs,
      latestMs: dates.latestMs,
      timeFault: fault ?? undefined,
      isMeasured: dates.isMeasured,
      mostJudgedMs: this.#mostJudgedMs,
      knownLoss: this.#loss,
      confirmedLoss: this.#confirmedLoss,
      isHeld: this.#isHeld,
      newLoss: randomUUID(),
      takesOldKeys: this.#options.takesOldKeys,
      knownCopies: this.#knownCopies,
      accounts,
      max: this.#options.max,
      maxPerAccount: recordQuota(this.#options, false),
      maxUnsent: recordQuota(this.#options, true),
      requiresAppendonly,
      isInspection,
      ...values,
    };
    const reply = await redis.run(text, [this.marker], [JSON.stringify(given)]);
    const read = replyIn<Answer>(reply, text);
    this.#note(read);
    return read;
  }

  #note({ losses, isLoss, isHeld, copies }: StoreReply<unknown>): void {
    this.#knownCopies = Math.max(this.#knownCopies, copies);
    const ids = losses.split(' ');
    const known = this.#loss;
    // The replies of two connections may arrive out of order: one that lacks the known loss is from before it.
    if (known !== undefined && !ids.includes(known)) return;
    [this.#loss] = ids;
    this.#isHeld = isHeld;
    const isNew = isLoss
      ? this.#loss !== this.#countedLoss
      : known !== undefined && this.#loss !== known;
    if (!isNew) return;
    this.#countedLoss = this.#loss;
    this.#losses += 1;
    this.#options.onWarn(LOSS);
  }
}

/** Throws if the store is of no use, or the reply is not one of this script. The script may have run. */
function replyIn<Answer>(text: unknown, script: string): StoreReply<Answer> {
  const reply = parsed(String(text));
  if (reply?.fault === 'absent') throw new RecordsAbsentError(reply.isDurable);
  if (reply?.fault === 'foreignVersion') throw new ForeignVersionError(FOREIGN_VERSION);
  // The text of a script contains the kinds of all its answers: any other kind is an answer to another script.
  if (script.includes(`'${reply?.answer?.kind}'`)) return reply;
  throw new RedisSilentError('the answer of Redis cannot be read');
}

/** Null if the text is not JSON. */
function parsed(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
