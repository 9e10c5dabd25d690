import { randomUUID } from 'node:crypto';

/** The bounds of a store of order records. */
export interface RecordBounds {
  readonly max: number;
  /** The most records of one account, at most half of them of orders that were never sent; left out, an account may have all. */
  readonly maxPerAccount?: number;
  /** The settings that name its accounts; left out, nobody takes orders by these names. */
  readonly accounts?: string | undefined;
  /** Called with each new order or void of an account that nearly has its share. */
  readonly onNearlyFull?: (() => void) | undefined;
}

const NEVER_SENT = '~';

/** Tells by its first character whether the order was never sent. */
export function newRecordId(isNeverSent: boolean): string {
  return `${isNeverSent ? NEVER_SENT : '.'}${randomUUID()}`;
}

export function isOfNeverSent(id: string): boolean {
  return id.startsWith(NEVER_SENT);
}

/** How many records of its kind an account may have. */
export function recordQuota({ max, maxPerAccount = max }: RecordBounds, id: string): number {
  return isOfNeverSent(id) ? Math.ceil(maxPerAccount / 2) : maxPerAccount;
}

/** An account with fewer records than this part of its share is far from full. */
export const NEARLY = 0.8;
