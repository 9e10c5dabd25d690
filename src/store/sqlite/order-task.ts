import type { OrderRecord, RecordedOutcome, Reservation, VoidRequest } from '../order-records.ts';

/** Plain data, since it is cloned to the worker thread and back. */
export type Task =
  | { readonly do: 'reserve' | 'release'; readonly reservation: Reservation }
  | { readonly do: 'settle'; readonly reservation: Reservation; readonly outcome: RecordedOutcome }
  | { readonly do: 'find'; readonly login: string; readonly key: string }
  /** A record with this id is the closed key's. */
  | { readonly do: 'void'; readonly id: string; readonly request: VoidRequest }
  | { readonly do: 'check' };

/** The record there is, or is from now on of a key that was closed; null, or why the task is refused. */
export type Answer = OrderRecord | null | Refusal;

/**
 * By a sentence, which is `unused` where the key has no record, or until the account has room for one more record, or
 * for one more closed key.
 */
export type Refusal =
  | string
  | { readonly unused: string }
  | { readonly freeInMs: number }
  | { readonly voidFreeInMs: number };
