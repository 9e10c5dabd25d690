import { RECORD_LIFE_MS } from '../order-records.ts';
import {
  fullShare,
  isNearlyFull,
  isOfNeverSent,
  NEARLY,
  type RecordBounds,
  recordQuota,
  type Share,
  shareOf,
} from '../record-shares.ts';
import { ageMs, type MachineClock } from './machine-clock.ts';
import { isIntact, type OrderContent, type OrderRow, type Statements } from './order-rows.ts';
import type { TaskRefusal } from './order-task.ts';

interface AccountShareOptions {
  readonly statements: Statements;
  readonly bounds: RecordBounds;
  readonly clock: MachineClock;
  readonly forget: (id: number) => void;
}

/** The records of one kind that an account has, and one of its tokens. */
interface Held extends Readonly<Record<Share | 'rejectedOfToken', number>> {
  readonly oldestOfAccount: number;
  readonly oldestOfToken: number;
  readonly oldestOfRejected: number;
}

const OLDEST = {
  account: 'oldestOfAccount',
  token: 'oldestOfToken',
  rejected: 'oldestOfRejected',
} as const;

const FORGOTTEN_AT_ONCE = 10;

/** Refuses a record for which its account or token has no room, or null. Rows are counted: a kept count could drift. */
export function shareRefusal(
  { account, reservation }: OrderContent,
  { statements, bounds, clock, forget }: AccountShareOptions,
): TaskRefusal | null {
  const most = recordQuota(bounds, reservation);
  // The index alone says of nearly every account that it has room.
  if (Number(statements.account.get(account)?.held) < NEARLY * most.token) return null;
  const asked = {
    account,
    share: shareOf(reservation),
    isNeverSent: Number(isOfNeverSent(reservation)),
  };
  for (let tries = 0; ; tries += 1) {
    const held = statements.share.get(asked) as unknown as Held;
    const isFirst = tries === 0;
    if (isFirst && isNearlyFull(most, held.account, held.token)) bounds.onNearlyFull?.();
    const whose = fullShare(held, most);
    if (whose === undefined) return null;
    const row = statements.byId.get(held[OLDEST[whose]]) as unknown as OrderRow | undefined;
    // The age of a damaged row cannot be known; within a day another one's turn comes.
    if (!row?.isIndexed || !isIntact(row))
      return { kind: 'share', whose, freeInMs: RECORD_LIFE_MS };
    const freeInMs = Math.max(0, RECORD_LIFE_MS - ageMs(row, clock));
    if (freeInMs > 0 || tries >= FORGOTTEN_AT_ONCE) return { kind: 'share', whose, freeInMs };
    // Its turn among all accounts' rows may come much later.
    forget(row.id);
  }
}
