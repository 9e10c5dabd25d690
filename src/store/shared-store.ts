import type { Account } from '../../lib/account.ts';
import type { SharedKeys } from '../../lib/limits/known-keys.ts';
import type { Share } from '../../lib/limits/limiter.ts';
import type { Baselines } from './baselines.ts';
import type { OrderRecords } from './order-records.ts';
import type { OrderTrail } from './order-trail.ts';

/** The port of the stores: the state that outlives a request, and that replicas share. Its contract is in `test/store/`. */
export interface SharedStore {
  /** These alone must never forget: without a record no order is sent. */
  readonly records: OrderRecords;
  readonly trail: OrderTrail;
  readonly baselines: Baselines;
  readonly catalogs: {
    /** Null where one process serves all clients: it knows its own versions. */
    readonly versions: VersionStore | null;
    /** Null where nothing outlives the process. */
    readonly copies: CopyStore | null;
  };
  /** The known keys of one kind; null where nothing outlives the process. */
  readonly keys: ((kind: string) => SharedKeys) | null;
  /** Null where there is no other replica. */
  readonly replicas: BetweenReplicas | null;
  close(): Promise<void>;
}

/** The state that replicas exchange through their store. */
export interface BetweenReplicas {
  /** Spends from the buckets of all replicas; null while the store does not answer, when each counts for itself. */
  readonly share: Share;
  readonly accountVersions: AccountVersions;
  /** Whether the store takes commands. */
  isUp(): boolean;
  /** Why limits are counted by each replica alone, or no order is sent for want of copies; null while neither is so. */
  degradedReason(): string | null;
}

/** Stores catalogs for all replicas, to compute changes since versions that another served. Keys are this process's text. */
export interface VersionStore {
  put(key: string, text: string): Promise<void>;
  get(key: string): Promise<string | null>;
}

/** Copies of catalogs, each until its end, of which the newest stay. Keys are letters, digits, `-` and `_`. */
export interface CopyStore {
  /** The largest that it takes. */
  readonly maxBytes: number;
  has(key: string): Promise<boolean>;
  /** `leftMs`: how much longer they are kept. */
  get(key: string): Promise<{ readonly bytes: Buffer; readonly leftMs: number } | null>;
  /** False where another writes this very content, or did a moment ago. */
  mayPut(key: string, content: string): Promise<boolean>;
  put(key: string, bytes: Buffer, leftMs: number): Promise<void>;
}

/** Tells a replica that an order on another one has changed an account, or may have. */
export interface AccountVersions {
  /** Rejects, and soon, where nobody can tell. */
  read(account: Account): Promise<AccountVersion>;
}

export interface AccountVersion {
  /** Another one whenever earlier versions, of whichever account, may have been lost. */
  readonly epoch: string;
  /** Null where no order changed the account within a day. */
  readonly version: string | null;
}
