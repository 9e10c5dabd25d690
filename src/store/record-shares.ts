import { randomUUID } from 'node:crypto';

/** The bounds of a store of order records. */
export interface RecordBounds {
  readonly max: number;
  /** The most orders of one account, beside a tenth as many that were never sent; left out, an account may have all. */
  readonly maxPerAccount?: number;
  /** The settings that name its accounts; left out, nobody takes orders by these names. */
  readonly accounts?: string | undefined;
  /** Called with each new order or void of an account that nearly has its share, or one of whose tokens has. */
  readonly onNearlyFull?: (() => void) | undefined;
}

const TOKEN_CHARACTERS = 16;
export const NEVER_SENT = '~';
/** The characters of an id that say what its record counts as. */
export const SHARE_CHARACTERS = TOKEN_CHARACTERS + NEVER_SENT.length;

/** Says whose share its record is of, so that every store can count it: of which token, and whether its order was never sent. */
export function newRecordId(tokenHash: string, isNeverSent: boolean): string {
  return `${tokenHash.slice(0, TOKEN_CHARACTERS)}${isNeverSent ? NEVER_SENT : '.'}${randomUUID()}`;
}

/** An id of an earlier version counts as that of a token of its own. */
export function shareOf(id: string): string {
  return id.slice(0, SHARE_CHARACTERS);
}

/** Orders that were never sent take nothing from those that are. */
export function isOfNeverSent(id: string): boolean {
  return id[TOKEN_CHARACTERS] === NEVER_SENT;
}

/** An account with fewer records than this may use the part of all records that is kept free of others. */
export const FEW_RECORDS = 20;

/** How many records of one kind an account may have, one of its tokens, and its orders that the gateway has rejected. */
export function recordQuota(
  { maxPerAccount = Number.POSITIVE_INFINITY }: RecordBounds,
  id: string,
) {
  const tenth = Math.max(1, Math.floor(maxPerAccount / 10));
  const account = isOfNeverSent(id) ? tenth : maxPerAccount;
  const half = Math.ceil(account / 2);
  // A rejected order costs nothing: without a bound of their own they would fill what is meant for orders.
  const rejected = isOfNeverSent(id) ? account : half;
  // A sign-in of the account with few of its own has not filled it, and goes on.
  const rejectedOfToken = Math.min(FEW_RECORDS, Math.ceil(rejected / 2));
  return { account, token: half, rejected, rejectedOfToken };
}

/** The parts of an account's share that can be full. */
export const SHARES = ['account', 'token', 'rejected'] as const;
export type Share = (typeof SHARES)[number];
type Held = Readonly<Record<Share | 'rejectedOfToken', number>>;

/** The part for which one more is refused; undefined where there is room. */
export function fullShare(held: Held, most: ReturnType<typeof recordQuota>): Share | undefined {
  const isFull = (share: keyof Held) => held[share] >= most[share];
  return SHARES.find(
    (share) => isFull(share) && (share !== 'rejected' || isFull('rejectedOfToken')),
  );
}

/** How many of all records others may have: the last fifth is kept for accounts with few, so that many busy ones refuse nobody. */
export function mostOfOthers(max: number): number {
  return max - Math.floor(max / 5);
}

/** Below so much of a share nobody need be told, nor look whose the records of an account are. */
export const NEARLY = 0.8;

export function isNearlyFull(
  most: ReturnType<typeof recordQuota>,
  ofAccount: number,
  ofToken: number,
) {
  return ofAccount >= NEARLY * most.account || ofToken >= NEARLY * most.token;
}
