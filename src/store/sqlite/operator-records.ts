import type { Account } from '../../lib/account.ts';
import type { OperatorRecords, OperatorStatus } from '../operator-records.ts';
import { datesOf, gapReason } from '../order-gap.ts';
import { HELD, isUnknown, type OrderRecord } from '../order-records.ts';
import type { SettleAnswer, SettleRequest, StoredOrder } from '../settlement.ts';
import { OrderFile } from './order-file.ts';
import { OrderTable } from './order-table.ts';
import { toFileError } from './sqlite-errors.ts';

interface OperatorFileOptions {
  readonly path: string;
  readonly max: number;
  readonly onWarn: (message: string) => void;
}

/** The order records of a file for operators. It skips `quick_check`, since `orders hold` must be quick. */
export class OperatorFile implements OperatorRecords {
  readonly #file: OrderFile;
  readonly #table: OrderTable;

  constructor({ path, max, onWarn }: OperatorFileOptions) {
    this.#file = new OrderFile({ path, mustExist: true, onWarn });
    // A command has no gateway to ask, so that no record ends by it.
    this.#table = new OrderTable(this.#file, { max }, () => datesOf(Date.now(), null));
  }

  async find(account: Account, key: string): Promise<OrderRecord | null> {
    return this.#read(() => this.#table.look(account, key));
  }

  async *list(account: Account | null, onlyUnknown: boolean): AsyncIterable<StoredOrder> {
    const from = (after: number) => this.#read(() => this.#table.rows(account, after));
    for (let rows = from(0); rows.length > 0; rows = from(rows.at(-1)?.n ?? 0)) {
      for (const row of rows) {
        const record = this.#table.record(row);
        if (!onlyUnknown || isUnknown(record)) {
          yield { account: row.account, key: row.key, record };
        }
      }
    }
  }

  async settle(request: SettleRequest): Promise<SettleAnswer> {
    return this.#change(() => this.#table.settleByHand(request));
  }

  async status(): Promise<OperatorStatus> {
    return this.#read(() => {
      const { records, held, lossUntil } = this.#file.state;
      const full = this.#table.isFull() ? 'all order records are in use' : null;
      const gap = this.#table.isIncomplete() ? gapReason('the order records', lossUntil) : null;
      return { held: records, refusedFor: held === 1 ? `orders are ${HELD}` : full, gap };
    });
  }

  async declareIncomplete(): Promise<void> {
    this.#change(() => this.#file.lose());
  }

  async hold(toHold: boolean): Promise<void> {
    this.#change(() => {
      this.#file.state.held = toHold ? 1 : 0;
    });
  }

  readonly copyTo = async (path: string): Promise<number> => {
    await this.#file.copyTo(path);
    return this.#file.state.records;
  };

  close(): void {
    this.#file.close();
  }

  /** Where the file lacks writes that this command has seen, the loss is recorded first. */
  #read<T>(work: () => T): T {
    try {
      const read = this.#file.read(() => ({ value: work() }));
      return read === null ? this.#file.change(work) : read.value;
    } catch (error) {
      throw toFileError(error);
    }
  }

  #change<T>(work: () => T): T {
    try {
      return this.#file.change(work);
    } catch (error) {
      throw toFileError(error);
    }
  }
}
