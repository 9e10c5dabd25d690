import type { Account } from '../lib/account.ts';
import type {
  OrderKey,
  OrderRecord,
  RecordedOutcome,
  RecordsStatus,
  Reservation,
} from './order-records.ts';

/**
 * The order records for an operator's commands, while the service uses them. Each method throws a StoreError if the store
 * cannot be used, and a RecordsUnavailableError if it does not answer.
 */
export interface OperatorRecords {
  /** The record of a key, even if other records may be missing. */
  find(account: Account, key: string): Promise<FoundOrder | null>;
  /** Lists the orders of one account or of all. */
  list(account: Account | null): AsyncIterable<StoredOrder>;
  /** Replaces a pending or unknown outcome, as in OrderRecords. */
  settle(reservation: Reservation, outcome: RecordedOutcome): Promise<unknown>;
  status(): Promise<RecordsStatus>;
  /** Declares that records are missing: a key without a record is then refused, unless the key was made later. */
  declareIncomplete(): Promise<void>;
  /** Stops or resumes the sending of orders, in every process within three seconds: a look, and an order's wait for its turn. */
  hold(isHeld: boolean): Promise<void>;
  /** Copies the records while they are in use, and returns their number. Null if the store is not a file. */
  readonly copyTo: ((path: string) => Promise<number>) | null;
  close(): void;
}

export interface FoundOrder extends OrderRecord {
  /** How long ago the order's deadline was; negative before it. */
  readonly overdueMs: number;
}

export interface StoredOrder extends OrderKey {
  readonly record: OrderRecord;
}
