import type { Account } from '../lib/account.ts';
import { gapReason } from './order-gap.ts';
import { newRecordId, type RecordBounds, recordQuota } from './record-shares.ts';

/**
 * The port of the order records, which make "at most once per key" true by one rule: a record is durable before its order is sent, and
 * a key that may have been forgotten is refused. Accepted and rejected orders are kept for RECORD_LIFE_MS after their outcome was
 * written, unknown ones for UNKNOWN_LIFE_MS. Records of orders that the gateway rejected give way to others where the store, or an
 * account's share of it, is full.
 */
export interface OrderRecords {
  /** Once this answers `reserved: true` the record is durable. */
  reserve(request: ReserveRequest): Promise<ReserveAnswer>;
  /**
   * Replaces pending or unknown, never accepted or rejected. Success means that the outcome is durable; repeat it until then.
   * Resolves with the outcome that stays in its place, where there is one; else with null.
   */
  settle(
    reservation: Reservation,
    outcome: RecordedOutcome,
    times?: OrderTimes,
  ): Promise<RecordedOutcome | null>;
  /** Frees the key of this very reservation, unless a client may have received `unknown`. May be repeated. */
  release(reservation: Reservation): Promise<void>;
  find(account: Account, key: string): Promise<OrderRecord | null>;
  /**
   * In one step: an unused key is closed, so that it can never be reserved while the record lives; of a used one
   * the record is returned, pending or not.
   */
  voidKey(request: VoidRequest): Promise<VoidAnswer>;
  /** Marks orders as unknown whose process is gone, and returns them: each once, whichever process asks. */
  cutOff(): Promise<readonly CutOffOrder[]>;
  /** The store as this process has seen it last. */
  readonly status: RecordsStatus;
  close(): Promise<void>;
}

/** Each reason is null where it does not apply. */
export interface RecordsStatus {
  /** The number of records. */
  readonly held: number;
  /** Why all new orders are refused. */
  readonly degradedReason: string | null;
  /** Why orders are refused whose keys were made before a gap of the records. */
  readonly gapReason: string | null;
  /** Why no order is sent, by the word of an operator. */
  readonly holdReason: string | null;
}

/** The name of an order. */
export interface OrderKey {
  readonly account: Account;
  readonly key: string;
}

export interface ReserveRequest extends OrderKey {
  /** Counts the record among those of orders that were never sent. */
  readonly isTooLate?: boolean;
  /** The digest of the order's canonical input, by which a repeat is compared. */
  readonly inputDigest: string;
  readonly reservedAtMs: number;
  /** The longest time the order may be in flight; past it a pending record means that its outcome is unknown. */
  readonly pendingMs: number;
  /** When the client made the key; null where it did not say. */
  readonly keyMadeMs?: number | null | undefined;
  /** Null for a closed key, which no order has. */
  readonly asked?: AskedOrder | null;
}

/** The order as the back office reads it; the stores read nothing in it. */
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

/** When the order was sent, and when it was answered; null where that did not happen. */
export interface OrderTimes {
  readonly sentAtMs: number | null;
  readonly answeredAtMs: number | null;
}

/** Its id is a fencing token: only its own reservation can be settled or released. */
export interface Reservation extends Omit<ReserveRequest, 'isTooLate' | 'keyMadeMs'> {
  readonly id: string;
}

export type ReserveAnswer =
  | { readonly reserved: true; readonly reservation: Reservation }
  | { readonly reserved: false; readonly record: OrderRecord };

export interface VoidRequest extends OrderKey {
  readonly atMs: number;
  /** The age of the key as its client says; null where that is not known, and it counts as old as a record can be. */
  readonly keyAgeMs: number | null;
}

/** `voided`: it was this request that closed the key. */
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
  /**
   * The time left for which it may be pending; 0 once that is over. A duration and not an instant,
   * because the clocks of two processes differ and one process's clock may jump.
   */
  readonly pendingMs: number;
  readonly asked: AskedOrder | null;
  readonly times: OrderTimes;
}

/** An order past its deadline is left to its process for so long. */
export const CUT_OFF_GRACE_MS = 10_000;

export type CutOffOrder = OrderKey & Pick<Reservation, 'reservedAtMs'>;

export const NO_TIMES: OrderTimes = { sentAtMs: null, answeredAtMs: null };

/** An outcome ends the time for which a record may be pending. */
export function toOrderRecord(
  {
    id,
    inputDigest,
    reservedAtMs,
    asked = null,
  }: Omit<Reservation, 'account' | 'key' | 'pendingMs'>,
  outcome: RecordedOutcome | null,
  leftMs: number,
  times = NO_TIMES,
): OrderRecord {
  const pendingMs = outcome === null ? Math.max(0, leftMs) : 0;
  return { id, inputDigest, reservedAtMs, outcome, pendingMs, asked, times };
}

/** Plain JSON, so that it reads the same from a file, from Redis and from memory. */
export type RecordedOutcome =
  | {
      readonly kind: 'accepted';
      readonly orderId: string | null;
      readonly message: string | null;
      readonly settled?: Settled;
    }
  | RecordedRejection
  | { readonly kind: 'unknown'; readonly sentAtMs: number; readonly message: string | null };

type RecordedRejection = GatewayRejection | UnsentOrder;

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
  /** Present where the key was closed before any order had it. */
  readonly closing?: KeyClosing;
  readonly settled?: Settled;
}

/** Clients read them as `OrderRejected.reason`. */
export const UNSENT_REASONS = ['EXPIRED', 'VOIDED', 'SETTLED'] as const;
export type UnsentReason = (typeof UNSENT_REASONS)[number];

/** Present where an operator has settled an unknown order. Operators read it, clients never. */
export interface Settled {
  readonly by: string;
  readonly why: string;
  readonly atMs: number;
}

export interface KeyClosing {
  /** The age of the key when it was closed. */
  readonly keyAgeMs: number;
  /** How far back the store remembered then. It may have forgotten an order with an older key. */
  readonly rememberedMs: number;
}

export const HELD = 'held back by an operator, until `trading-graph orders release`';

/** A refusal: the orders of an account are not found by another name of it. */
export const RENAMED = 'another GATEWAY_FORWARD_HEADERS or GATEWAY_LOGIN_CLAIM names the accounts';
export const IS_NEW = 'is new: it knows of no earlier order, and would send one again';

/** The life of a record after an outcome that is known was written. */
export const RECORD_LIFE_MS = 24 * 3_600_000;
/** The life of a record of an order of which nobody knows the outcome: a back office settles it on Monday. */
export const UNKNOWN_LIFE_MS = 30 * RECORD_LIFE_MS;
/** A key that is older, by its client's word, may have had a record that is over. The quarter of an hour is for clocks that are wrong. */
export const KEY_LIFE_MS = RECORD_LIFE_MS - 15 * 60_000;

/** The outcome of a closed key, which is older than the store where its age is not known. */
export function closedBy(keyAgeMs: number | null, rememberedMs: number): UnsentOrder {
  const closing = {
    keyAgeMs: keyAgeMs ?? RECORD_LIFE_MS,
    rememberedMs: Math.floor(Math.min(rememberedMs, RECORD_LIFE_MS)),
  };
  return { kind: 'rejected', error: 'VOIDED', message: null, sent: false, closing };
}

export function closingOf({ outcome }: Pick<OrderRecord, 'outcome'>): KeyClosing | null {
  return (outcome?.kind === 'rejected' && outcome.sent === false && outcome.closing) || null;
}

export function toReservation({
  isTooLate = false,
  keyMadeMs: _,
  ...of
}: ReserveRequest): Reservation {
  return { ...of, id: newRecordId(isTooLate) };
}

/** The reservation of a closed key: no order has its input. */
export function closedReservation({ account, key, atMs }: VoidRequest): Reservation {
  const id = newRecordId(true);
  return { account, key, id, inputDigest: CLOSED_DIGEST, reservedAtMs: atMs, pendingMs: 0 };
}

/** No order has an empty digest. */
export const CLOSED_DIGEST = '';

/** The store is full or out of reach: an order cannot be promised to go out once, so it does not go. */
export class RecordsUnavailableError extends Error {
  override readonly name: string = 'RecordsUnavailableError';
  /** False where the records were read and have none of this key, so that no earlier request with it was sent. */
  readonly earlierUnknown: boolean;

  constructor(message?: string, { earlierUnknown = true, ...options }: RecordsErrorOptions = {}) {
    super(message, options);
    this.earlierUnknown = earlierUnknown;
  }
}

interface RecordsErrorOptions extends ErrorOptions {
  readonly earlierUnknown?: boolean;
}

/** The key is older than the records: they may have forgotten an order that had it. */
export class RecordsForgottenError extends RecordsUnavailableError {
  override readonly name = 'RecordsForgottenError';
  override readonly message = 'the records do not reach back to when the key was made';
}

/** Records may be missing, and the key may be among them: nobody knows whether an order had it before. */
export class RecordsGapError extends RecordsUnavailableError {
  override readonly name = 'RecordsGapError';
  /** Keys made more than KEY_AHEAD_MS later are taken; null before the gateway's clock was measured. */
  readonly untilMs: number | null;

  /** Whether this very key may be taken once that is known. */
  readonly isWaiting: boolean;

  constructor(untilMs: number | null, madeMs: number | null = null) {
    super(gapReason('the order records', untilMs));
    this.untilMs = untilMs;
    this.isWaiting = untilMs === null && madeMs !== null;
  }
}

/** All records are in use, and none is of an order that the gateway rejected. */
export function storeFull(max: number): RecordsUnavailableError {
  const options = { earlierUnknown: false };
  return new RecordsUnavailableError(`all ${max} order records are in use`, options);
}

/** This account alone has as many records of a kind as it may; others are not affected. */
export class AccountRecordsFullError extends RecordsUnavailableError {
  override readonly name = 'AccountRecordsFullError';

  constructor(bounds: RecordBounds, isNeverSent: boolean) {
    const what = isNeverSent ? 'records of orders that were never sent' : 'order records';
    super(`all ${recordQuota(bounds, isNeverSent)} ${what} of this account are in use`, {
      earlierUnknown: false,
    });
  }
}

/** Account and key as one string; the account is encoded so that no two pairs give the same. */
export function recordId(account: Account, key: string): string {
  return `${encodeURIComponent(account)}:${key}`;
}

/** Whether the gateway rejected the order; false for an order that was never sent. */
export function isGatewayRejection(outcome: RecordedOutcome | null): boolean {
  return outcome?.kind === 'rejected' && outcome.sent !== false;
}

/** Whether the order may have changed its account. */
export function mayHaveChanged(outcome: RecordedOutcome | null): boolean {
  return outcome !== null && outcome.kind !== 'rejected';
}

/** Whether clients read that the outcome is unknown, also because the order's process died. */
export function isUnknown({ outcome, pendingMs }: OrderRecord): boolean {
  return outcome === null ? pendingMs === 0 : outcome.kind === 'unknown';
}

/** Nothing replaces an outcome from the gateway, and nothing makes a known outcome pending again. */
export function rank(outcome: RecordedOutcome | null): 0 | 1 | 2 {
  if (outcome === null) return 0;
  return outcome.kind === 'unknown' ? 1 : 2;
}
