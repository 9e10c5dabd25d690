export interface RecordBounds {
  readonly max: number;
  /** The maximum of records of one account; by default `max`. At most half may be of orders that were never sent. */
  readonly maxPerAccount?: number;
  /** The settings that name the accounts. Undefined for commands of an operator, which place no orders. */
  readonly accounts?: string | undefined;
}

/** The maximum of an account's records, in total or of orders that were never sent. */
export function recordQuota(
  { max, maxPerAccount = max }: RecordBounds,
  isNeverSent: boolean,
): number {
  return isNeverSent ? Math.ceil(maxPerAccount / 2) : maxPerAccount;
}
