import type { Gone } from '../lib/departure.ts';
import type { OperationName } from './operations.ts';

/** Where an answer came from: a call of this request, what was held, or a call somebody else had under way. */
export type ReceiptSource = 'call' | 'cache' | 'shared';

export interface ReceiptEntry {
  readonly operation: OperationName;
  readonly ms: number;
  readonly source: ReceiptSource;
}

/** On whose behalf the gateway is called. */
export interface Caller {
  readonly token: string | null;
  /** Ends a read that nobody waits for any more; a write runs to its own deadline. */
  readonly signal?: Gone;
  /** The client's own address and agent, sent on where GATEWAY_FORWARD_CLIENT says so. */
  readonly client?: { readonly address: string; readonly userAgent: string | null };
  /** The login that the token claims; whose a failure is, not whose the data is. */
  readonly account?: string;
  /** A feed's poll: nobody waits for this one answer, another poll follows anyway. */
  readonly priority?: 'poll';
  /** Told of each call when it has ended. */
  readonly receipt?: (entry: ReceiptEntry) => void;
}
