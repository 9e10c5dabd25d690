import type { Account } from '../../lib/account.ts';
import { type Dates, datesOf, gapReason } from '../order-gap.ts';
import {
  NO_TIMES,
  type OrderTimes,
  RENAMED,
  type RecordedOutcome,
  RecordsUnavailableError,
  type Reservation,
} from '../order-records.ts';
import type { RecordBounds } from '../record-shares.ts';
import { hasRoom } from './disk-room.ts';
import { OrderFile } from './order-file.ts';
import { OrderTable } from './order-table.ts';
import { type SqliteFileError, toFileError } from './sqlite-errors.ts';

export type Task =
  | {
      readonly do: 'reserve';
      readonly reservation: Reservation;
      readonly keyMadeMs: number | null;
    }
  | {
      readonly do: 'settle';
      readonly reservation: Reservation;
      readonly outcome: RecordedOutcome;
      readonly times: OrderTimes | undefined;
    }
  | { readonly do: 'release'; readonly reservation: Reservation }
  | { readonly do: 'find'; readonly account: Account; readonly key: string }
  | {
      readonly do: 'void';
      readonly reservation: Reservation;
      readonly keyAgeMs: number | null;
    }
  | { readonly do: 'cut off' }
  | { readonly do: 'check' };

export type TaskAnswer = { readonly value: unknown } | { readonly error: RecordsUnavailableError };

export interface Batch {
  readonly tasks: readonly Task[];
  /** How far the gateway's clock is ahead of this machine's; null where that was not measured. */
  readonly skewMs: number | null;
  /** The date. */
  readonly nowMs: number;
}

export interface BatchAnswer {
  readonly answers: readonly TaskAnswer[];
  readonly status: StoreStatus;
}

export interface StoreStatus {
  readonly held: number;
  readonly isHeld: boolean;
  readonly degradedReason: string | null;
  readonly gapReason: string | null;
}

export interface OrderBatchesOptions extends RecordBounds {
  readonly path: string;
  readonly nowMs: number;
  readonly onWarn: (message: string) => void;
}

/** Answers batches of tasks, each in one transaction: where that fails, no answer of it counts. */
export class OrderBatches {
  readonly #options: OrderBatchesOptions;
  readonly #file: OrderFile;
  readonly #table: OrderTable;
  #dates: Dates;
  #failure: SqliteFileError | null = null;
  #isFull = false;

  /** Throws a SqliteFileError. */
  constructor(options: OrderBatchesOptions) {
    const { path, nowMs, onWarn } = options;
    const now = () => this.#dates.nowMs;
    this.#options = options;
    this.#dates = datesOf(nowMs, null);
    this.#file = new OrderFile({ path, isVerified: true, now, onWarn });
    this.#table = new OrderTable(this.#file, options, () => this.#dates);
  }

  run({ tasks, skewMs, nowMs }: Batch): BatchAnswer {
    this.#dates = datesOf(nowMs, skewMs);
    const answers = this.#answersTo(tasks);
    return { answers, status: this.status() };
  }

  status(): StoreStatus {
    const { records, held, lossUntil } = this.#file.state;
    const isIncomplete = this.#table.isIncomplete();
    return {
      held: records,
      isHeld: held === 1,
      degradedReason: this.#degradedReason(),
      gapReason: isIncomplete ? gapReason('the order records', lossUntil) : null,
    };
  }

  close(): void {
    this.#file.close();
  }

  #degradedReason(): string | null {
    if (this.#failure) return `the file of the order records ${this.#failure.message}`;
    if (this.#table.isOtherName()) return RENAMED;
    return this.#isFull ? 'all order records are in use' : null;
  }

  #answersTo(tasks: readonly Task[]): readonly TaskAnswer[] {
    try {
      // It does not pass by itself.
      if (this.#failure?.isDamage) throw this.#failure;
      return this.#read(tasks) ?? this.#change(tasks);
    } catch (error) {
      this.#fail(toFileError(error));
      return tasks.map((task) => this.#answerUnwritten(task));
    }
  }

  /** Null where something is to be written. */
  #read(tasks: readonly Task[]): readonly TaskAnswer[] | null {
    const isQuestion = (task: Task) => task.do === 'find' || task.do === 'check';
    if (this.#failure !== null || !tasks.every(isQuestion)) return null;
    return this.#file.read(() => {
      this.#isFull = this.#table.isFull();
      const isDue = this.#table.canFixLoss || this.#table.hasEnded();
      return isDue ? null : tasks.map((task) => this.#answer(task));
    });
  }

  #change(tasks: readonly Task[]): readonly TaskAnswer[] {
    const answers = this.#file.change(() => {
      if (this.#table.canFixLoss) this.#table.fixLoss();
      this.#table.forgetEnded();
      const done = tasks.map((task) => this.#answer(task));
      this.#isFull = this.#table.isFull();
      return done;
    });
    if (this.#failure !== null && (!this.#failure.isFull || hasRoom(this.#options.path))) {
      this.#failure = null;
      this.#options.onWarn(`${this.#options.path} can be used again`);
    }
    return answers;
  }

  #fail(failure: SqliteFileError): void {
    if (failure.message !== this.#failure?.message) {
      this.#options.onWarn(`${this.#options.path} ${failure.message}`);
    }
    this.#failure = failure;
  }

  #answer(task: Task): TaskAnswer {
    try {
      return { value: this.#valueOf(task) };
    } catch (error) {
      if (error instanceof RecordsUnavailableError) return { error };
      throw error;
    }
  }

  #valueOf(task: Task): unknown {
    switch (task.do) {
      case 'reserve':
        return this.#table.reserve(task.reservation, task.keyMadeMs);
      case 'settle':
        return this.#table.settle(task.reservation, task.outcome, task.times ?? NO_TIMES);
      case 'release':
        return this.#table.release(task.reservation);
      case 'find':
        return this.#table.find(task.account, task.key);
      case 'void':
        return this.#table.voidKey(task.reservation, task.keyAgeMs);
      case 'cut off':
        return this.#table.cutOff();
      case 'check':
        return null;
    }
  }

  /** Where nothing can be written, the records that can be read answer for their keys. */
  #answerUnwritten(task: Task): TaskAnswer {
    const reason = `the file of the order records ${this.#failure?.message}`;
    const refusal = { error: new RecordsUnavailableError(reason) };
    const of = task.do === 'find' ? task : 'reservation' in task ? task.reservation : null;
    if (of === null || task.do === 'settle' || task.do === 'release') return refusal;
    if (this.#failure?.isDamage) return refusal;
    try {
      const found = this.#file.read(() => ({ value: this.#table.find(of.account, of.key) }));
      if (found === null || found.value !== null || task.do === 'find') return found ?? refusal;
      return { error: new RecordsUnavailableError(reason, { earlierUnknown: false }) };
    } catch (error) {
      return error instanceof RecordsUnavailableError ? { error } : refusal;
    }
  }
}
