import type { OrderKey, OrderRecord, RecordedOutcome, Settled } from './order-records.ts';

export type SettledOutcome = Exclude<RecordedOutcome, { kind: 'unknown' }> & {
  readonly settled: Settled;
};

export interface StoredOrder extends OrderKey {
  readonly record: OrderRecord;
}

export type SettleRequest = OrderKey & { readonly outcome: SettledOutcome };

/** `early`: the gateway may still answer. `known`: the order has another outcome. `settled`: it has this outcome now. */
export type SettleAnswer =
  | { readonly kind: 'none' }
  | { readonly kind: 'early'; readonly leftMs: number }
  | { readonly kind: 'known' | 'settled'; readonly record: OrderRecord };

/** The answer for an order with a known outcome. */
export function knownAnswer(record: OrderRecord, requested: SettledOutcome): SettleAnswer {
  const isSame = isSettled(record.outcome) && agree(record.outcome, requested);
  return { kind: isSame ? 'settled' : 'known', record };
}

/** How long after an order's deadline a late answer is accepted. */
export const LATE_ANSWER_MS = 60_000;

export function isSettled(outcome: RecordedOutcome | null): outcome is SettledOutcome {
  return outcome !== null && outcome.kind !== 'unknown' && outcome.settled !== undefined;
}

/** Whether two outcomes agree: both are accepted, with the same number if both have one, or both are not accepted. */
export function agree(one: RecordedOutcome | null, other: RecordedOutcome): boolean {
  if (one?.kind !== 'accepted' || other.kind !== 'accepted') return one?.kind === other.kind;
  return one.orderId === other.orderId || one.orderId === null || other.orderId === null;
}
