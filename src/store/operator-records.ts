import type { Account } from '../../lib/account.ts';
import type { OrderRecord } from './order-records.ts';
import type { SettleAnswer, SettleRequest, StoredOrder } from './settlement.ts';

/**
 * The order records for an operator's commands, beside the service that goes on using them. Each method
 * throws a StoreError where the store cannot be used as it is, and a RecordsUnavailableError where it does not answer.
 */
export interface OperatorRecords {
  find(account: Account, key: string): Promise<OrderRecord | null>;
  /** Lists the orders of one account, or of all, or the unknown ones alone; some at a time, however many there are. */
  list(account: Account | null, onlyUnknown: boolean): AsyncIterable<StoredOrder>;
  /** Settles an order that is unknown, a minute after its deadline at the earliest. */
  settle(request: SettleRequest): Promise<SettleAnswer>;
  /** Says how the records are, once it has heard the operator's word on whether some are missing. */
  status(declared: 'complete' | 'incomplete' | null): Promise<OperatorStatus>;
  /** How many records count for the account no more; their keys stay used up. */
  free(account: Account): Promise<number>;
  /** Whether any process hears of it, within two seconds. */
  hold(toHold: boolean): Promise<boolean>;
  /** Null where the store is no file. */
  readonly file: OperatorFile | null;
  close(): void;
}

export interface OperatorStatus {
  readonly held: number;
  /** The number of processes that have sent a heartbeat lately; null where they send none. */
  readonly replicas: number | null;
  /** The reason for which all orders are refused; null while they are taken. */
  readonly refusedFor: string | null;
  /** The reason for which orders are refused whose keys were made before a gap of the records. */
  readonly gap: string | null;
}

/** Each returns the number of records. */
export interface OperatorFile {
  copyTo(path: string): number;
  moveTo(path: string): number;
}
