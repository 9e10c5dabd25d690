import { randomUUID } from 'node:crypto';

/** The bounds of a store of order records. */
export interface RecordBounds {
  readonly max: number;
  /** The most records of one account, at most half of them of orders that were never sent; left out, an account may have all. */
  readonly maxPerAccount?: number;
  /** The settings that name its accounts; left out, nobody takes orders by these names. */
  readonly accounts?: string | undefined;
}

const NEVER_SENT = '~';

/** Tells by its first character whether the order was never sent. */
export function newRecordId(isNeverSent: boolean): string {
  return `${isNeverSent ? NEVER_SENT : '.'}${randomUUID()}`;
}

export function isOfNeverSent(id: string): boolean {
  return id.startsWith(NEVER_SENT);
}

/** How many records an account may have, all of them or those of orders that were never sent. */
export function recordQuota(
  { max, maxPerAccount = max }: RecordBounds,
  isNeverSent: boolean,
): number {
  return isNeverSent ? Math.ceil(maxPerAccount / 2) : maxPerAccount;
}
