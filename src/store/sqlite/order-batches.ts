import type { Dates } from '../dates.ts';
import { clockReason } from '../key-rule.ts';
import type { RecordsStatus } from '../order-records.ts';
import type { RecordBounds } from '../record-shares.ts';
import { FULL, RENAMED, type Refusal, RefusedError } from '../refusals.ts';
import type { NewFile } from './file-schema.ts';
import { OrderFile } from './order-file.ts';
import { OrderTable } from './order-table.ts';
import type { SqliteFileError } from './sqlite-errors.ts';

export type TaskName = 'add' | 'settle' | 'release' | 'find' | 'voidKey' | 'cutOff' | 'check';

/** A call of a method of OrderTable. */
export type Task = {
  [Name in TaskName]: { readonly name: Name; readonly args: Parameters<OrderTable[Name]> };
}[TaskName];

type TaskAnswer = { readonly value: unknown } | { readonly refusal: Refusal };

export interface Batch {
  readonly tasks: readonly Task[];
  readonly dates: Dates;
}

export interface BatchAnswer {
  readonly answers: readonly TaskAnswer[];
  readonly status: RecordsStatus;
  readonly warnings: readonly string[];
}

export interface OrderBatchesOptions extends RecordBounds, NewFile {
  readonly path: string;
  readonly dates: Dates;
}

/** Runs each batch of tasks in one transaction. If it fails, nothing was written. Inputs and outputs can cross threads. */
export class OrderBatches {
  readonly #file: OrderFile;
  readonly #table: OrderTable;
  readonly #warnings: string[] = [];
  #failure: SqliteFileError | null = null;
  #isFull = false;
  #unsettled = 0;

  /** Throws a SqliteFileError if the file cannot be used. */
  constructor(options: OrderBatchesOptions) {
    this.#file = new OrderFile({
      ...options,
      onWarn: (warning) => {
        this.#warnings.push(warning);
      },
    });
    this.#table = new OrderTable(this.#file, options);
  }

  run({ tasks, dates }: Batch): BatchAnswer {
    return this.answerOf(this.#run(tasks, dates));
  }

  /** Adds the state of the file to the answers, which may be empty. */
  answerOf(answers: readonly TaskAnswer[]): BatchAnswer {
    const status = this.#file.status(this.#unsettled, this.#degradedReason());
    return { answers, status, warnings: this.#warnings.splice(0) };
  }

  close(): void {
    this.#file.close();
  }

  #degradedReason(): string | null {
    if (this.#failure) return `the file of the order records ${this.#failure.message}`;
    if (this.#table.isRenamed()) return RENAMED;
    const reason = clockReason(this.#file.state.since, this.#file.dates);
    return reason ?? (this.#isFull ? FULL : null);
  }

  #run(tasks: readonly Task[], dates: Dates): readonly TaskAnswer[] {
    try {
      // A damaged file is not tried again.
      if (this.#failure?.isDamage) throw this.#failure;
      const answers = this.#file.change(dates, () => {
        this.#table.room.removeExpired();
        const done = tasks.map((task) => this.#answer(task));
        this.#isFull = this.#table.room.isFull();
        this.#unsettled = this.#table.unsettled();
        return done;
      });
      if (this.#failure !== null) this.#warn('can be used again');
      this.#failure = null;
      return answers;
    } catch (error) {
      const failure = error as SqliteFileError;
      if (failure.message !== this.#failure?.message) this.#warn(failure.message);
      this.#failure = failure;
      return tasks.map((task) => this.#answerUnwritten(task, dates, failure));
    }
  }

  #answer(task: Task): TaskAnswer {
    try {
      return { value: Reflect.apply(this.#table[task.name], this.#table, task.args) };
    } catch (error) {
      if (error instanceof RefusedError) return { refusal: error.refusal };
      throw error;
    }
  }

  /** If the file cannot be written, the records that can be read still answer for their keys. */
  #answerUnwritten({ name, args }: Task, dates: Dates, failure: SqliteFileError): TaskAnswer {
    const message = `the file of the order records ${failure.message}`;
    const refusal = { kind: 'unusable', message, earlierUnknown: true } as const;
    const isAboutKey = name === 'add' || name === 'find' || name === 'voidKey';
    if (!isAboutKey || failure.isDamage) return { refusal };
    try {
      const [order] = args;
      const found = this.#file.read(dates, () => this.#answer({ name: 'find', args: [order] }));
      const isUnused = 'value' in found && found.value === null;
      return isUnused && name !== 'find'
        ? { refusal: { ...refusal, earlierUnknown: false } }
        : found;
    } catch {
      return { refusal };
    }
  }

  #warn(what: string): void {
    this.#warnings.push(`${this.#file.path} ${what}`);
  }
}
