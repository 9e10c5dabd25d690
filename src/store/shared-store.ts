import type { Account } from '../lib/account.ts';
import type { SharedKeys } from '../lib/limits/known-keys.ts';
import type { Share } from '../lib/limits/limiter.ts';
import type { OrderRecords } from './order-records.ts';

/** The port of the stores: the state that outlives a request, and that replicas share. */
export interface SharedStore {
  /** Only the records must never lose data: without a record no order is sent. */
  readonly records: OrderRecords;
  /** Null if there are no other replicas. */
  readonly replicas: BetweenReplicas | null;
  close(): Promise<void>;
}

/** The state that replicas exchange through their store. */
interface BetweenReplicas {
  /** Charges the shared buckets; null while the store does not answer, when each replica counts for itself. */
  readonly share: Share;
  readonly accountVersions: AccountVersions;
  /** The hashes of tokens that the gateway has accepted. */
  readonly knownTokens: SharedKeys;
  /** Why each replica counts limits alone, or why orders are not sent for lack of replicas of Redis; null if neither applies. */
  degradedReason(): string | null;
}

/** Versions of accounts. From them a replica learns that an order on another replica may have changed an account. */
export interface AccountVersions {
  /** Rejects soon if Redis does not answer. */
  read(account: Account): Promise<AccountVersion>;
}

export interface AccountVersion {
  /** Changes whenever earlier versions of any account may have been lost. */
  readonly epoch: string;
  /** Null if no order has changed the account within a day. */
  readonly version: string | null;
}
