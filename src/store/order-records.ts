import { randomUUID } from 'node:crypto';
import { type Account, textOf } from '../lib/account.ts';

/**
 * The port of the order records. They guarantee "at most once per key" by one rule: a record is durable before its order is
 * sent, and a key that may have been forgotten is refused. Accepted and rejected orders are kept for RECORD_LIFE_MS after
 * their outcome was written, unknown ones for UNKNOWN_LIFE_MS. If the store or an account's share of it is full, records of
 * orders that the gateway rejected are removed to make room.
 */
export interface OrderRecords {
  /** `reserved: true` means that the record is durable. */
  reserve(request: ReserveRequest): Promise<ReserveAnswer>;
  /**
   * Replaces a pending or unknown outcome, never an accepted or rejected one. The outcome is durable once this resolves;
   * after an error, call it again. Resolves with the recorded outcome if that was kept, otherwise with null.
   */
  settle(reservation: Reservation, outcome: RecordedOutcome): Promise<RecordedOutcome | null>;
  /** Frees the key of exactly this reservation, but keeps it if a client may have received `unknown`. Safe to repeat. */
  release(reservation: Reservation): Promise<void>;
  find(account: Account, key: string): Promise<OrderRecord | null>;
  /**
   * Closes an unused key: no order can reserve it while its record lives. For a used key it returns the record. A key of
   * which the records may have forgotten an order is closed too, and then a KeyTooOldError is thrown.
   */
  voidKey(key: OrderKey): Promise<VoidAnswer>;
  /** Marks orders whose process is gone as unknown, and returns them. One process gets each of these orders, once. */
  cutOff(): Promise<readonly CutOffOrder[]>;
  /** The store as this process has last seen it. */
  readonly status: RecordsStatus;
  close(): Promise<void>;
}

/** A reason is null if it does not apply. */
export interface RecordsStatus {
  readonly count: number;
  /** How many orders have an unknown outcome that nobody has settled. */
  readonly unsettled: number;
  /** Why all new orders are refused. */
  readonly degradedReason: string | null;
  /** Unknown keys that were made until then are refused. Null until it is decided, after a creation or a loss. */
  readonly sinceMs: number | null;
  /** How many losses of records this process has seen. */
  readonly losses: number;
  /** Why an operator has stopped the sending of orders. */
  readonly holdReason: string | null;
}

export interface OrderKey {
  readonly account: Account;
  readonly key: string;
}

export interface ReserveRequest extends OrderKey {
  /** Whether the order has expired already, or the key is closed: the record counts among the orders that were never sent. */
  readonly isNeverSent?: boolean;
  /** The digest of the order's input, to which a repeat is compared. */
  readonly inputDigest: string;
  readonly reservedAtMs: number;
  /** How long the order can be in flight. After that a pending record means that the outcome is unknown. */
  readonly pendingMs: number;
  /** Null for a closed key, which has no order. */
  readonly asked?: AskedOrder | null;
}

/** The input of an order, kept for the back office. The stores do not interpret it. */
export interface AskedOrder {
  readonly requestId: string | null;
  readonly kind: 'MARKET' | 'PENDING';
  readonly symbol: string;
  readonly side: string;
  readonly size: { readonly by: string; readonly value: number };
  readonly price: number | null;
  readonly stopLoss: OrderLevel | null;
  readonly takeProfit: OrderLevel | null;
}

type OrderLevel = number | { readonly by: string; readonly value: number };

/** A reservation. Its id is a fencing token: a record can only be settled or released by its own reservation. */
export interface Reservation extends ReserveRequest {
  readonly id: string;
}

export type ReserveAnswer =
  | { readonly reserved: true; readonly reservation: Reservation }
  | { readonly reserved: false; readonly record: OrderRecord };

/** `voided`: whether this request closed the key. */
export interface VoidAnswer {
  readonly voided: boolean;
  readonly record: OrderRecord;
}

export interface OrderRecord {
  readonly id: string;
  readonly inputDigest: string;
  readonly reservedAtMs: number;
  /** Null while pending. */
  readonly outcome: RecordedOutcome | null;
  /** How much longer the order can be in flight. A duration, because the clocks of two processes differ. */
  readonly pendingMs: number;
  readonly asked: AskedOrder | null;
}

/** How long after its deadline an order is left to the process that sent it. */
export const CUT_OFF_GRACE_MS = 10_000;

export type CutOffOrder = OrderKey & Pick<Reservation, 'reservedAtMs'>;

/** A record with an outcome is no longer pending. */
export function toOrderRecord(
  {
    id,
    inputDigest,
    reservedAtMs,
    asked = null,
  }: Omit<Reservation, 'account' | 'key' | 'pendingMs'>,
  outcome: RecordedOutcome | null,
  leftMs: number,
): OrderRecord {
  const pendingMs = outcome === null ? Math.max(0, leftMs) : 0;
  return { id, inputDigest, reservedAtMs, outcome, pendingMs, asked };
}

/** Plain JSON, so that it is the same in a file, in Redis and in memory. */
export type RecordedOutcome =
  | {
      readonly kind: 'accepted';
      readonly orderId: string | null;
      readonly message: string | null;
      readonly settled?: Settled;
    }
  | GatewayRejection
  | UnsentOrder
  | { readonly kind: 'unknown'; readonly sentAtMs: number; readonly message: string | null };

interface GatewayRejection {
  readonly kind: 'rejected';
  readonly error: string | null;
  readonly message: string | null;
  readonly sent?: never;
  readonly settled?: never;
}

/** The service rejected the order and sent nothing. */
export interface UnsentOrder {
  readonly kind: 'rejected';
  readonly error: UnsentReason;
  readonly message: string | null;
  readonly sent: false;
  /** Present if the records did not reach back to the key's time when it was closed: an order may have used it before. */
  readonly isDoubtful?: true;
  readonly settled?: Settled;
}

/** The reasons that clients receive as `OrderRejected.reason`. */
export const UNSENT_REASONS = ['EXPIRED', 'VOIDED', 'SETTLED'] as const;
export type UnsentReason = (typeof UNSENT_REASONS)[number];

/** Present if an operator has settled an unknown order. Only operators see it. */
export interface Settled {
  readonly by: string;
  readonly why: string;
  readonly atMs: number;
}

export const HELD = 'held back by an operator, until `trading-graph orders release`';

/** The life of a record after a known outcome was written. */
export const RECORD_LIFE_MS = 24 * 3_600_000;
/** The life of a record whose outcome is unknown, so that a back office has weeks to settle it. */
export const UNKNOWN_LIFE_MS = 30 * RECORD_LIFE_MS;

/** The digest in the record of a closed key. No order has an empty digest. */
const CLOSED_DIGEST = '';

/** The outcome of a key that was closed before any order used it. */
export const CLOSED: UnsentOrder = {
  kind: 'rejected',
  error: 'VOIDED',
  message: null,
  sent: false,
};

/** Whether the key was closed and has no order. The gateway may use the same name for an error of its own. */
export function isClosed({ inputDigest }: Pick<OrderRecord, 'inputDigest'>): boolean {
  return inputDigest === CLOSED_DIGEST;
}

export function toReservation(request: ReserveRequest): Reservation {
  return { ...request, id: randomUUID() };
}

/** The reservation of a closed key, which no order can match. */
export function closedReservation({ account, key }: OrderKey, reservedAtMs: number): Reservation {
  const order = { inputDigest: CLOSED_DIGEST, reservedAtMs, pendingMs: 0, isNeverSent: true };
  return toReservation({ account, key, ...order });
}

/** Account and key as one string. The account is encoded, so that different pairs have different strings. */
export function recordId(account: Account, key: string): string {
  return `${encodeURIComponent(textOf(account))}:${key}`;
}

/** Whether the gateway rejected the order; false for an order that was never sent. */
export function isGatewayRejection(outcome: RecordedOutcome | null): boolean {
  return outcome?.kind === 'rejected' && outcome.sent !== false;
}

/** Whether the order may have changed its account. */
export function mayHaveChanged(outcome: RecordedOutcome | null): boolean {
  return outcome !== null && outcome.kind !== 'rejected';
}

/** Whether clients read `unknown`: that is the outcome, or the order is still pending after its deadline. */
export function isUnknown({ outcome, pendingMs }: OrderRecord): boolean {
  return outcome === null ? pendingMs === 0 : outcome.kind === 'unknown';
}

/** An outcome is replaced only by one of a higher rank. The rank of a known outcome is 2. */
export function rank(outcome: RecordedOutcome | null): 0 | 1 | 2 {
  if (outcome === null) return 0;
  return outcome.kind === 'unknown' ? 1 : 2;
}
