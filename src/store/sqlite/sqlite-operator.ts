import type { Account } from '../../lib/account.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { unmeasuredDates } from '../dates.ts';
import type { FoundOrder, OperatorRecords, StoredOrder } from '../operator-records.ts';
import type { RecordedOutcome, RecordsStatus, Reservation } from '../order-records.ts';
import { FULL } from '../refusals.ts';
import { OrderFile } from './order-file.ts';
import { OrderTable } from './order-table.ts';

interface OperatorFileOptions {
  readonly path: string;
  readonly max: number;
  readonly clock?: Pick<Clock, 'date'>;
  readonly onWarn: (message: string) => void;
}

/** The order records of a file for operators. */
export class OperatorFile implements OperatorRecords {
  readonly #clock: Pick<Clock, 'date'>;
  readonly #file: OrderFile;
  readonly #table: OrderTable;

  constructor({ path, max, clock = systemClock, onWarn }: OperatorFileOptions) {
    this.#clock = clock;
    this.#file = new OrderFile({ path, isOperator: true, dates: this.#dates(), onWarn });
    this.#table = new OrderTable(this.#file, { max });
  }

  async find(account: Account, key: string): Promise<FoundOrder | null> {
    return this.#run(() => this.#table.show({ account, key }));
  }

  async *list(account: Account | null): AsyncIterable<StoredOrder> {
    const page = (after: number) => this.#run(() => this.#table.list(account, after));
    for (let found = page(0); found !== null; found = page(found.last)) yield* found.orders;
  }

  async settle(reservation: Reservation, outcome: RecordedOutcome): Promise<unknown> {
    return this.#run(() => this.#table.settle(reservation, outcome));
  }

  async status(): Promise<RecordsStatus> {
    return this.#run(() =>
      this.#file.status(this.#table.unsettled(), this.#table.room.isFull() ? FULL : null),
    );
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
    return unmeasuredDates(this.#clock.date());
  }
}
