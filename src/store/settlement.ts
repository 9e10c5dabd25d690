import type { OrderKey, OrderRecord, RecordedOutcome, Settled } from './order-records.ts';

/** The outcome of an order that an operator has settled. */
export type SettledOutcome = Exclude<RecordedOutcome, { kind: 'unknown' }> & {
  readonly settled: Settled;
};

export interface StoredOrder extends OrderKey {
  readonly record: OrderRecord;
}

export type SettleRequest = OrderKey & { readonly outcome: SettledOutcome };

/** `early`: a late answer may still come; `known`: it has another outcome; the last means that it has this one from now on. */
export type SettleAnswer =
  | { readonly kind: 'none' }
  | { readonly kind: 'early'; readonly leftMs: number }
  | { readonly kind: 'known' | 'settled'; readonly record: OrderRecord };

/** Behind the deadline of an order an answer is read on for so long at the most. */
export const LATE_ANSWER_MS = 60_000;

export function isSettled(outcome: RecordedOutcome | null): outcome is SettledOutcome {
  return outcome !== null && outcome.kind !== 'unknown' && outcome.settled !== undefined;
}

/** Whether two outcomes say the same of an order: that it was carried out, under which number, or that it was not. */
export function agree(one: RecordedOutcome | null, other: RecordedOutcome): boolean {
  if (one?.kind !== 'accepted' || other.kind !== 'accepted') return one?.kind === other.kind;
  return one.orderId === other.orderId || one.orderId === null || other.orderId === null;
}
