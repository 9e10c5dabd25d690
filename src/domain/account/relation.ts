import { hash } from 'node:crypto';
import type { PositionsAnswer, SessionAnswer } from '../../gateway/answers.ts';
import type { Order, Position } from '../../gateway/model.ts';
import { type SnapshotPositions, sizeOf } from '../../gateway/wire/session.ts';

/** How a list of an account's positions (op 12) and a snapshot of the account (op 10) stand to each other. */
export type Relation =
  /** They tell of the same positions, and nothing that is awaited is missing. */
  | 'agree'
  /** The snapshot was asked for before the list had its members, and tells of others. */
  | 'snapshot-outdated'
  /** Something that is awaited is in neither, and the list is the older one of the two. */
  | 'list-behind'
  /** Something that is awaited is in neither, and the snapshot is the older one of the two. */
  | 'snapshot-behind'
  /** They tell of different positions, and what is in neither is believed to be gone. */
  | 'differ';

/** A list of positions; `membersTime`: since when it is known to have these members, where that is before its own call. */
export interface KnownList extends Pick<PositionsAnswer, 'positions' | 'logicalTime' | 'sentAtMs'> {
  readonly membersTime?: number;
}

/** The orders that have to be in one of the two lists, and since when each may be in neither. */
export type AwaitedOrders = ReadonlyMap<string, number>;

/** An order that is in neither list for so long is believed to be gone. */
export const BELIEVED_AFTER_MS = 1_250;

export const NO_AWAITED_ORDERS: AwaitedOrders = new Map();

/**
 * The one rule by which an order that is triggered between two calls is always in one of the two lists that are shown. The
 * gateway may be behind in either, so an order that is in neither may be a position that the list does not have yet.
 * `awaitsPositions`: whether the positions of the snapshot are awaited in the list as well.
 */
export function relate(
  list: KnownList,
  { session: { positions, orders }, logicalTime, receivedAtMs }: SessionAnswer,
  left: AwaitedOrders,
  nowMs: number,
  awaitsPositions = false,
): Relation {
  const isSame = sameMembers(positions, list.positions);
  const listTime = list.membersTime ?? list.logicalTime;
  // A snapshot without a list contradicts none; it is outdated only by members that are known to have changed.
  const canTell = positions !== null || list.membersTime !== undefined;
  if (!isSame && canTell && logicalTime < listTime) return 'snapshot-outdated';
  // A list that differs has to be asked for late enough, since an earlier one may be behind for however long it stands.
  const provenAtMs = isSame ? nowMs : list.sentAtMs;
  // No position is missing where the two agree.
  const ids = awaitsPositions && !isSame ? (positions?.ids ?? []) : [];
  const awaited =
    ids.length === 0 ? left : new Map([...ids.map((id) => [id, receivedAtMs] as const), ...left]);
  const missing = missingIn(list.positions, orders, awaited, provenAtMs - BELIEVED_AFTER_MS);
  if (missing.length === 0) return isSame ? 'agree' : 'differ';
  // A snapshot that has the position already is the newer one, whenever it was asked for.
  const isListOlder = logicalTime > listTime || missing.some((id) => positions?.ids.includes(id));
  return isListOlder ? 'list-behind' : 'snapshot-behind';
}

/** A snapshot without a list of its orders says nothing of them. */
function missingIn(
  positions: readonly Position[],
  orders: readonly Order[] | null,
  awaited: AwaitedOrders,
  believedMs: number,
): string[] {
  if (orders === null || awaited.size === 0) return [];
  const listed = new Set([...positions, ...orders].map(({ id }) => id));
  const missing = [...awaited].filter(([id, sinceMs]) => sinceMs > believedMs && !listed.has(id));
  return missing.map(([id]) => id);
}

/** The orders that snapshots had and no longer have, each with the time since when; `shown` are those of the last one. */
export function ordersLeft(
  before: AwaitedOrders,
  shown: readonly Order[],
  { session: { orders }, receivedAtMs }: SessionAnswer,
  keptMs: number,
): AwaitedOrders {
  // A snapshot's lack of a list is no news.
  if (orders === null) return before;
  const left = new Map<string, number>();
  for (const { id } of shown) left.set(id, receivedAtMs);
  const eldestMs = receivedAtMs - Math.max(keptMs, BELIEVED_AFTER_MS);
  for (const [id, sinceMs] of before) if (sinceMs > eldestMs) left.set(id, sinceMs);
  for (const { id } of orders) left.delete(id);
  return left.size > 0 ? left : NO_AWAITED_ORDERS;
}

/** Whether a snapshot was taken while the account had these positions, of these sizes. The interface promises no order; no list has an id twice. */
export function sameMembers(
  snapshot: SnapshotPositions | null,
  list: readonly Position[],
): boolean {
  if (snapshot === null || snapshot.ids.length !== list.length) return false;
  const { ids, sizes } = snapshot;
  // Nearly always both are in the same order, and thousands of them are compared with each answer.
  let byId: Map<string, Position> | undefined;
  const found = (id: string) => {
    byId ??= new Map(list.map((position) => [position.id, position]));
    return byId.get(id);
  };
  return ids.every((id, at) => {
    const position = list[at]?.id === id ? list[at] : found(id);
    if (position === undefined) return false;
    const [told, listed] = [sizes[at] ?? null, sizeOf(position)];
    // A size that either of them lacks says nothing.
    return told === null || listed === null || told === listed;
  });
}

/** Stands for a list that is forgotten: the ids themselves would be most of what is kept of an account. */
export interface Members {
  readonly ids: number;
  /** Digest of the ids with their sizes; null where one lacks its size. */
  readonly sizes: number | null;
}

export function membersOf({ ids, sizes }: Pick<SnapshotPositions, 'ids' | 'sizes'>): Members {
  const sized = () => digestOf(ids.map((id, at) => `${id} ${sizes[at]}`));
  return { ids: digestOf(ids), sizes: sizes.includes(null) ? null : sized() };
}

export function isSame(a: Members, b: Members): boolean {
  return a.ids === b.ids && (a.sizes === null || b.sizes === null || a.sizes === b.sizes);
}

/** A number of 52 bits that is the same for the same texts in any order. */
function digestOf(texts: readonly string[]): number {
  return Number.parseInt(hash('sha1', JSON.stringify(texts.toSorted())).slice(0, 13), 16);
}
