import type { Account } from '../lib/account.ts';
import type { SharedKeys } from '../lib/limits/known-keys.ts';
import type { Share } from '../lib/limits/limiter.ts';
import type { OrderRecords } from './order-records.ts';

/** The port of the stores: the state that outlives a request, and that replicas share. */
export interface SharedStore {
  /** These alone must never forget: without a record no order is sent. */
  readonly records: OrderRecords;
  /** Null where there is no other replica. */
  readonly replicas: BetweenReplicas | null;
  close(): Promise<void>;
}

/** The state that replicas exchange through their store. */
interface BetweenReplicas {
  /** Spends from the buckets of all replicas; null while the store does not answer, when each counts for itself. */
  readonly share: Share;
  readonly accountVersions: AccountVersions;
  /** The hashes of tokens that the gateway has accepted. */
  readonly knownTokens: SharedKeys;
  /** Why each replica counts limits alone, or why no order is sent for want of replicas of Redis; null while neither is so. */
  degradedReason(): string | null;
}

/** Versions of accounts, by which a replica learns that an order on another one may have changed an account. */
export interface AccountVersions {
  /** Rejects soon where Redis does not answer. */
  read(account: Account): Promise<AccountVersion>;
}

export interface AccountVersion {
  /** Another one whenever earlier versions, of whichever account, may have been lost. */
  readonly epoch: string;
  /** Null where no order changed the account within a day. */
  readonly version: string | null;
}
