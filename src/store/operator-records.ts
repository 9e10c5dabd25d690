import type { Account } from '../lib/account.ts';
import type { OrderRecord, RecordsStatus } from './order-records.ts';
import type { SettleAnswer, SettleRequest, StoredOrder } from './settlement.ts';

/**
 * The order records for an operator's commands, while the service uses them. Each method throws a StoreError where
 * the store cannot be used as it is, and a RecordsUnavailableError where it does not answer.
 */
export interface OperatorRecords {
  find(account: Account, key: string): Promise<OrderRecord | null>;
  /** Lists the orders of one account, or of all, or the unknown ones alone; some at a time, however many there are. */
  list(account: Account | null, onlyUnknown: boolean): AsyncIterable<StoredOrder>;
  /** Settles an order that is unknown, a minute after its deadline at the earliest. */
  settle(request: SettleRequest): Promise<SettleAnswer>;
  status(): Promise<RecordsStatus>;
  /** Declares that records are missing: unknown keys are refused unless they were made afterwards. */
  declareIncomplete(): Promise<void>;
  /** Takes effect in every process of the service within two seconds. */
  hold(toHold: boolean): Promise<void>;
  /** Copies the records while they are in use, and returns their number. Null where the store is no file. */
  readonly copyTo: ((path: string) => Promise<number>) | null;
  close(): void;
}
