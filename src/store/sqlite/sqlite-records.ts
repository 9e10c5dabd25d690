import type { Account } from '../../lib/account.ts';
import { type Clock, within } from '../../lib/clock.ts';
import { reasonOf } from '../../lib/reason-of.ts';
import { type Dates, unmeasuredDates } from '../dates.ts';
import { inTime, PATIENCE_MS, TOO_LATE } from '../in-time.ts';
import {
  type CutOffOrder,
  closedReservation,
  type OrderKey,
  type OrderRecord,
  type OrderRecords,
  type RecordedOutcome,
  type RecordsStatus,
  type Reservation,
  type ReserveAnswer,
  type ReserveRequest,
  toReservation,
  type VoidAnswer,
} from '../order-records.ts';
import type { RecordBounds } from '../record-shares.ts';
import { RecordsUnavailableError, refusalError } from '../refusals.ts';
import { BatchThread } from './batch-thread.ts';
import type { NewFile } from './file-schema.ts';
import { type BatchAnswer, OrderBatches, type Task, type TaskName } from './order-batches.ts';
import type { OrderTable } from './order-table.ts';

interface SqliteOrderRecordsOptions extends RecordBounds, NewFile {
  /** `:memory:` is a store that ends with its process. */
  readonly path: string;
  readonly clock: Clock;
  /** The dates of the present moment. */
  readonly dates: () => Dates;
  readonly onWarn: (message: string) => void;
}

interface Waiting extends PromiseWithResolvers<unknown> {
  readonly task: Task;
}

const CHECK_MS = 1_000;
// A longer batch would delay other processes that use the file.
const MAX_BATCH = 200;
/** While a disk hangs, requests whose clients have given up must not fill the memory. */
const MAX_QUEUE = 10_000;

/**
 * Order records that survive the process, in a file that several processes of one machine can share. Each record is on the
 * disk before its order is sent. Throws a SqliteFileError if the file cannot be used.
 */
export async function openSqliteOrderRecords(
  options: SqliteOrderRecordsOptions,
): Promise<OrderRecords> {
  if (options.path === ':memory:') return openInlineOrderRecords(options);
  const thread = new BatchThread(fileOptions(options));
  return new SqliteOrderRecords(options, thread, await thread.opened());
}

/** Opens order records that run in their caller's thread. In memory they do not wait for a disk. */
export function openInlineOrderRecords(options: SqliteOrderRecordsOptions): OrderRecords {
  const batches = new OrderBatches(fileOptions(options));
  return new SqliteOrderRecords(options, batches, batches.answerOf([]));
}

/** The options that can be sent to a thread. */
function fileOptions({ clock, dates: _, onWarn: __, ...data }: SqliteOrderRecordsOptions) {
  // The time of a creation or a loss is decided by a date that is read later.
  return { ...data, dates: unmeasuredDates(clock.date()) };
}

class SqliteOrderRecords implements OrderRecords {
  readonly #options: SqliteOrderRecordsOptions;
  readonly #batches: BatchThread | OrderBatches;
  /** Tasks that are queued during a batch form the next batch. */
  readonly #queue: Waiting[] = [];
  #running: Promise<void> | null = null;
  #isClosed = false;
  #status: RecordsStatus;
  #cancelCheck = () => {};

  constructor(
    options: SqliteOrderRecordsOptions,
    batches: BatchThread | OrderBatches,
    { status, warnings }: BatchAnswer,
  ) {
    this.#options = options;
    this.#batches = batches;
    this.#status = status;
    for (const warning of warnings) options.onWarn(warning);
    this.#checkLater();
  }

  async reserve(request: ReserveRequest): Promise<ReserveAnswer> {
    const reservation = toReservation(request);
    const record = await this.#ask('add', reservation);
    return record ? { reserved: false, record } : { reserved: true, reservation };
  }

  settle(reservation: Reservation, outcome: RecordedOutcome): Promise<RecordedOutcome | null> {
    return this.#ask('settle', reservation, outcome);
  }

  release(reservation: Reservation): Promise<void> {
    return this.#ask('release', reservation);
  }

  find(account: Account, key: string): Promise<OrderRecord | null> {
    return inTime(this.#options.clock, this.#ask('find', { account, key }));
  }

  async voidKey(key: OrderKey): Promise<VoidAnswer> {
    const { clock, dates } = this.#options;
    const reservation = closedReservation(key, dates().laterMs);
    const record = await inTime(clock, this.#ask('voidKey', reservation));
    return { voided: record.id === reservation.id, record };
  }

  cutOff(): Promise<readonly CutOffOrder[]> {
    return this.#ask('cutOff');
  }

  get status(): RecordsStatus {
    return this.#status;
  }

  /** Answers the tasks that are already queued, and then closes the file. */
  async close(): Promise<void> {
    this.#cancelCheck();
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#running;
    await this.#batches.close();
  }

  async #ask<Name extends TaskName>(
    name: Name,
    ...args: Parameters<OrderTable[Name]>
  ): Promise<ReturnType<OrderTable[Name]>> {
    if (this.#isClosed) throw new RecordsUnavailableError('the order records are closed');
    // Outcomes of orders must be written, so they are queued without a limit.
    const isOutcome = name === 'settle' || name === 'release';
    if (!isOutcome && this.#queue.length >= MAX_QUEUE) throw new RecordsUnavailableError(TOO_LATE);
    const waiting = { task: { name, args } as Task, ...Promise.withResolvers<unknown>() };
    this.#queue.push(waiting);
    this.#running ??= this.#runAll();
    return (await waiting.promise) as ReturnType<OrderTable[Name]>;
  }

  async #runAll(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#run(this.#queue.splice(0, MAX_BATCH));
    }
    this.#running = null;
  }

  async #run(batch: readonly Waiting[]): Promise<void> {
    const { dates, onWarn } = this.#options;
    const tasks = batch.map(({ task }) => task);
    try {
      const { answers, status, warnings } = await this.#batches.run({ tasks, dates: dates() });
      this.#status = status;
      for (const warning of warnings) onWarn(warning);
      for (const [n, { resolve, reject }] of batch.entries()) {
        const answer = answers[n];
        if (answer && 'value' in answer) resolve(answer.value);
        else if (answer) reject(refusalError(answer.refusal, this.#options, dates()));
      }
    } catch (error) {
      // Only a thread that has ended throws: refusals are answers.
      const reason = reasonOf(error);
      if (reason !== this.#status.degradedReason) onWarn(reason);
      this.#status = { ...this.#status, degradedReason: reason };
      for (const { reject } of batch) reject(error);
    }
  }

  /** Finds out, even without orders, that the file cannot be used or can be used again. Also decides the end of a loss. */
  #checkLater(): void {
    const { clock } = this.#options;
    // A memory cannot fail, so it is only checked until the end of its loss is decided.
    if (!(this.#batches instanceof BatchThread) && this.#status.sinceMs !== null) return;
    this.#cancelCheck = clock.after(CHECK_MS, async () => {
      // Only the time counts: a refusal is an answer too.
      const checked = Promise.allSettled([this.#ask('check')]);
      const isTimely = (await within(clock, PATIENCE_MS, checked)) !== null;
      if (!isTimely) this.#status = { ...this.#status, degradedReason: TOO_LATE };
      if (!this.#isClosed) this.#checkLater();
    });
  }
}
