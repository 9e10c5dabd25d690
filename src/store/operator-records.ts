import type { Account } from '../lib/account.ts';
import type { OrderRecord, RecordsStatus } from './order-records.ts';
import type { SettleAnswer, SettleRequest, StoredOrder } from './settlement.ts';

/**
 * The order records for an operator's commands, while the service uses them. Each method throws a StoreError if the store
 * cannot be used, and a RecordsUnavailableError if it does not answer.
 */
export interface OperatorRecords {
  find(account: Account, key: string): Promise<OrderRecord | null>;
  /** Lists the orders of one account or of all. */
  list(account: Account | null): AsyncIterable<StoredOrder>;
  /** Settles an unknown order, at the earliest a minute after its deadline. */
  settle(request: SettleRequest): Promise<SettleAnswer>;
  status(): Promise<RecordsStatus>;
  /** Declares that records are missing: a key without a record is then refused, unless the key was made later. */
  declareIncomplete(): Promise<void>;
  /** Stops or resumes the sending of orders, in every process of the service within two seconds. */
  hold(isHeld: boolean): Promise<void>;
  /** Copies the records while they are in use, and returns their number. Null if the store is not a file. */
  readonly copyTo: ((path: string) => Promise<number>) | null;
  close(): void;
}
