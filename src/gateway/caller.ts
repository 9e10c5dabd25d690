import type { HashedToken } from '../lib/token-hash.ts';
import type { OperationName } from './operations.ts';

/** Where an answer came from: a call of this request, the cache, or another request's in-flight call. */
export type ReceiptSource = 'call' | 'cache' | 'shared';

export interface ReceiptEntry {
  readonly operation: OperationName;
  readonly ms: number;
  readonly source: ReceiptSource;
}

/** On whose behalf the gateway is called. */
export interface Caller {
  readonly token: string | null;
  /** The token with its hash, where the connection has computed it. */
  readonly hashed?: HashedToken | null;
  /** Aborts a read once no client waits for it; a write runs to its own deadline. */
  readonly signal?: AbortSignal;
  /** The client's own address and agent, sent on where GATEWAY_FORWARD_CLIENT says so. */
  readonly client?: { readonly address: string; readonly userAgent: string | null };
  /** The login that the token claims. It says whose a failure is, not whose the data is. */
  readonly account?: string;
  /** Marks a feed's poll: no client waits for this one answer, and another poll follows anyway. */
  readonly priority?: 'poll';
  /** Called with each call once it has ended. */
  readonly receipt?: (entry: ReceiptEntry) => void;
}
