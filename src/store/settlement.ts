import type { OperatorRecords } from './operator-records.ts';
import {
  type OrderKey,
  type OrderRecord,
  type RecordedOutcome,
  rank,
  type Settled,
} from './order-records.ts';

export type SettledOutcome = Exclude<RecordedOutcome, { kind: 'unknown' }> & {
  readonly settled: Settled;
};

/** `early`: the gateway may still answer. `known`: the order has another outcome. `settled`: it has this outcome now. */
type SettleAnswer =
  | { readonly kind: 'none' }
  | { readonly kind: 'early'; readonly leftMs: number }
  | { readonly kind: 'known' | 'settled'; readonly record: OrderRecord };

/** How long after an order's deadline a late answer is accepted. */
const LATE_ANSWER_MS = 60_000;

/** Settles an unknown order for an operator. A known outcome is kept, also one that an operator has settled. */
export async function settleByHand(
  records: OperatorRecords,
  { account, key }: OrderKey,
  outcome: SettledOutcome,
): Promise<SettleAnswer> {
  const found = await records.find(account, key);
  if (found === null) return { kind: 'none' };
  const leftMs = LATE_ANSWER_MS - found.overdueMs;
  if (rank(found.outcome) < 2 && leftMs > 0) return { kind: 'early', leftMs };
  // A known outcome is kept. It is confirmed like a new one: a settlement before this may not have been.
  await records.settle({ ...found, account, key }, outcome);
  const record = await records.find(account, key);
  if (record === null) return { kind: 'none' };
  const isSame = isSettled(record.outcome) && agree(record.outcome, outcome);
  return { kind: isSame ? 'settled' : 'known', record };
}

export function isSettled(outcome: RecordedOutcome | null): outcome is SettledOutcome {
  return outcome !== null && outcome.kind !== 'unknown' && outcome.settled !== undefined;
}

/** Whether two outcomes agree: both are accepted, with the same number if both have one, or both are not accepted. */
export function agree(one: RecordedOutcome | null, other: RecordedOutcome): boolean {
  if (one?.kind !== 'accepted' || other.kind !== 'accepted') return one?.kind === other.kind;
  return one.orderId === other.orderId || one.orderId === null || other.orderId === null;
}
