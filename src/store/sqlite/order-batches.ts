import { type Dates, datesOf, gapReason } from '../order-gap.ts';
import { HELD, RENAMED, type RecordsStatus, RecordsUnavailableError } from '../order-records.ts';
import type { RecordBounds } from '../record-shares.ts';
import { OrderFile } from './order-file.ts';
import { OrderTable } from './order-table.ts';
import { type SqliteFileError, toFileError } from './sqlite-errors.ts';

export type TaskName = 'reserve' | 'settle' | 'release' | 'find' | 'voidKey' | 'cutOff' | 'check';

/** A call of a method of the table. */
export type Task = {
  [Name in TaskName]: { readonly name: Name; readonly args: Parameters<OrderTable[Name]> };
}[TaskName];

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
  readonly status: RecordsStatus;
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
    return { answers, status: this.status };
  }

  get status(): RecordsStatus {
    const { records, held, lossUntil } = this.#file.state;
    const isIncomplete = this.#table.isIncomplete();
    return {
      held: records,
      degradedReason: this.#degradedReason(),
      gapReason: isIncomplete ? gapReason('the order records', lossUntil) : null,
      holdReason: held === 1 ? HELD : null,
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
    const isQuestion = ({ name }: Task) => name === 'find' || name === 'check';
    if (this.#failure !== null || !tasks.every(isQuestion)) return null;
    return this.#file.read(() => {
      this.#isFull = this.#table.isFull();
      if (this.#table.canFixLoss || this.#table.hasEnded()) return null;
      const answers = tasks.map((task) => this.#answer(task));
      return this.#table.hasOverdue ? null : answers;
    });
  }

  #change(tasks: readonly Task[]): readonly TaskAnswer[] {
    const answers = this.#file.change(() => {
      if (this.#table.canFixLoss) this.#table.fixLoss();
      this.#table.forgetEnded();
      const done = tasks.map((task) => this.#answer(task));
      this.#table.tellOverdue();
      this.#isFull = this.#table.isFull();
      return done;
    });
    this.#table.forgetOverdue();
    if (this.#failure !== null) {
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
      return { value: Reflect.apply(this.#table[task.name], this.#table, task.args) };
    } catch (error) {
      if (error instanceof RecordsUnavailableError) return { error };
      throw error;
    }
  }

  /** Where nothing can be written, the records that can be read answer for their keys. */
  #answerUnwritten({ name, args }: Task): TaskAnswer {
    const reason = `the file of the order records ${this.#failure?.message}`;
    const refusal = { error: new RecordsUnavailableError(reason) };
    const isAboutKey = name === 'reserve' || name === 'find' || name === 'voidKey';
    if (!isAboutKey || this.#failure?.isDamage) return refusal;
    try {
      const found = this.#file.read(() => ({ value: this.#table.find(args[0]) }));
      if (found === null || found.value !== null || name === 'find') return found ?? refusal;
      return { error: new RecordsUnavailableError(reason, { earlierUnknown: false }) };
    } catch (error) {
      return error instanceof RecordsUnavailableError ? { error } : refusal;
    }
  }
}
