import type { Account } from '../lib/account.ts';
import type { SharedKeys } from '../lib/limits/known-keys.ts';
import type { ShareUsage } from '../lib/limits/limiter.ts';
import type { OrderRecords } from './order-records.ts';

/** The stores of the state that outlives a request and that replicas share. */
export interface SharedStore {
  /** An order is sent only after its record is durable. */
  readonly records: OrderRecords;
  /** Null if there are no other replicas. */
  readonly replicas: BetweenReplicas | null;
}

interface BetweenReplicas {
  /** Charges the limits that all replicas share. Null while the store fails: each replica then counts alone. */
  readonly share: ShareUsage;
  readonly accountVersions: AccountVersions;
  /** The hashes of tokens that the gateway has accepted. */
  readonly knownTokens: SharedKeys;
  /** Why each replica counts limits alone, or why Redis has too few replicas of its own for orders; null otherwise. */
  degradedReason(): string | null;
}

/** Shows a replica which accounts may have been changed by an order on another replica. */
export interface AccountVersions {
  /** Rejects soon if Redis does not answer. */
  read(account: Account): Promise<AccountVersion>;
}

export interface AccountVersion {
  /** Changes whenever earlier versions of any account may have been lost. */
  readonly epoch: string;
  /** Null if no order has changed the account for three days. */
  readonly version: string | null;
}
