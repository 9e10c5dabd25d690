import type { Account } from '../../lib/account.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { unmeasuredDates } from '../dates.ts';
import type { OperatorRecords } from '../operator-records.ts';
import { FULL, NO_TIMES, type OrderRecord, type RecordsStatus, rank } from '../order-records.ts';
import {
  knownAnswer,
  LATE_ANSWER_MS,
  type SettleAnswer,
  type SettleRequest,
  type StoredOrder,
} from '../settlement.ts';
import { OrderFile } from './order-file.ts';
import { OrderTable } from './order-table.ts';
import { statusOf } from './order-tasks.ts';

interface OperatorFileOptions {
  readonly path: string;
  readonly max: number;
  readonly clock?: Pick<Clock, 'date'>;
  readonly onWarn: (message: string) => void;
}

/** The order records of a file for operators. */
export class OperatorFile implements OperatorRecords {
  readonly #options: OperatorFileOptions;
  readonly #file: OrderFile;
  readonly #table: OrderTable;

  constructor(options: OperatorFileOptions) {
    const { path, onWarn } = options;
    this.#options = options;
    this.#file = new OrderFile({ path, isOperator: true, dates: this.#dates(), onWarn });
    this.#table = new OrderTable(this.#file);
  }

  async find(account: Account, key: string): Promise<OrderRecord | null> {
    return this.#run(() => {
      const found = this.#table.find(account, key);
      return found && this.#table.recordOf(found);
    });
  }

  async *list(account: Account | null): AsyncIterable<StoredOrder> {
    const page = (after: number) => this.#run(() => this.#table.rows(account, after));
    for (let rows = page(0); rows.length > 0; rows = page(rows.at(-1)?.n ?? 0)) {
      for (const row of rows) {
        yield { account: row.account, key: row.key, record: this.#table.recordOf(row) };
      }
    }
  }

  async settle({ account, key, outcome }: SettleRequest): Promise<SettleAnswer> {
    return this.#run(() => {
      const found = this.#table.find(account, key);
      if (found === null) return { kind: 'none' };
      const present = this.#table.recordOf(found);
      const isKnown = rank(present.outcome) === 2;
      if (isKnown) return knownAnswer(present, outcome);
      const leftMs = found.pendingUntil + LATE_ANSWER_MS - this.#file.dates.nowMs;
      if (leftMs > 0) return { kind: 'early', leftMs };
      this.#table.setOutcome(found, outcome, NO_TIMES);
      return { kind: 'settled', record: { ...present, outcome, pendingMs: 0 } };
    });
  }

  async status(): Promise<RecordsStatus> {
    return this.#run(() => {
      const degradedReason = this.#table.isFull(this.#options.max) ? FULL : null;
      return statusOf(this.#file, { degradedReason, unsettled: this.#table.unsettled() });
    });
  }

  async declareIncomplete(): Promise<void> {
    this.#run(() => this.#file.noteLoss());
  }

  async hold(isHeld: boolean): Promise<void> {
    this.#run(() => this.#file.update({ held: isHeld ? 1 : 0 }));
  }

  readonly copyTo = async (path: string): Promise<number> => {
    await this.#file.copyTo(path);
    return this.#file.state.records;
  };

  close(): void {
    this.#file.close();
  }

  #run<T>(work: () => T): T {
    return this.#file.change(this.#dates(), work);
  }

  /** A command has not measured the gateway's clock, so it expires no record. */
  #dates() {
    const { clock = systemClock } = this.#options;
    return unmeasuredDates(clock.date());
  }
}
