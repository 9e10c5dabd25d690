import { LRUCache } from 'lru-cache';
import type { PositionsAnswer } from '../../gateway/operations/get-open-positions.ts';
import { digestOfIds, type IdsDigest } from '../../gateway/operations/holdings.ts';
import { ACCOUNT, type Account } from '../../lib/account.ts';
import type { ProofLedger } from '../auth/proof.ts';
import type { Viewer } from '../auth/viewer.ts';
import { Watermarks } from './account-reads.ts';

// Measured. Only unshared texts make a position larger, by as much heap as their bytes in the body.
const BYTES_OF_A_LIST = 450;
const BYTES_OF_A_POSITION = 420;

/** The ids of a served list, the time of its call, and the time of the first call with these ids. */
interface ServedList {
  readonly ids: IdsDigest;
  readonly logicalTime: number;
  readonly idsSince: number;
}

/**
 * The newest list of op 12 that was served to each account, so that no later answer shows an older list. The newest list has
 * the latest call. With proof a list is shared by the account's tokens, otherwise it belongs to its token. `maxBytes` bounds
 * the estimated heap of all lists.
 */
export class NewestPositions {
  readonly #ledger: Pick<ProofLedger, 'account'>;
  // The keys are accounts and hashes of tokens. No account has the form of a hash.
  readonly #lists: LRUCache<string | Account, PositionsAnswer>;
  /** A watermark outlives its list, so that no older list is served after an eviction. */
  readonly #served = new Watermarks<ServedList>();

  constructor(ledger: Pick<ProofLedger, 'account'>, maxBytes: number) {
    this.#ledger = ledger;
    this.#lists = new LRUCache({ maxSize: maxBytes, sizeCalculation: bytesOf });
  }

  /** The newest list that was served to the viewer; null if it is not in memory, or if the viewer may no longer see it. */
  newest(viewer: Viewer, proof = this.#ledger.account(viewer)): PositionsAnswer | null {
    const own = this.#lists.get(viewer.tokenHash) ?? null;
    const shared = proof && this.#lists.get(proof[ACCOUNT]);
    const list = newer(shared ?? null, own);
    return list !== null && this.hasNewer(viewer, list.logicalTime, proof) ? null : list;
  }

  /** Whether a list from a later call was served to the viewer. The list itself may have been evicted. */
  hasNewer(viewer: Viewer, logicalTime: number, proof = this.#ledger.account(viewer)): boolean {
    if (logicalTime < this.#served.timeOf(viewer.tokenHash)) return true;
    return proof !== null && logicalTime < this.#served.timeOf(proof[ACCOUNT]);
  }

  /**
   * Whether a list was served to the viewer with other ids than a snapshot's, and these ids first appeared after the
   * snapshot was requested. Then a position was opened or closed after the snapshot. If the gateway's two lists always
   * differ, the snapshot is read again once.
   */
  contradicts(viewer: Viewer, logicalTime: number, ids: IdsDigest): boolean {
    const proof = this.#ledger.account(viewer);
    if (this.#contradicts(viewer.tokenHash, logicalTime, ids)) return true;
    return proof !== null && this.#contradicts(proof[ACCOUNT], logicalTime, ids);
  }

  /** The record of the account's newest list; undefined if it is unknown. */
  servedTo(account: Account): ServedList | undefined {
    return this.#served.get(account);
  }

  /**
   * Returns the list to serve: the offered one, or a newer one that was served before. Null if the newer list was evicted.
   * The proof is read now, because the call that brought the list may have proved the token.
   */
  offer(
    viewer: Viewer,
    offered: PositionsAnswer,
    proof = this.#ledger.account(viewer),
  ): PositionsAnswer | null {
    const before = this.newest(viewer, proof);
    const list = newer(before, offered);
    if (this.hasNewer(viewer, list.logicalTime, proof)) return null;
    const own = this.#served.get(viewer.tokenHash);
    const shared = proof === null ? undefined : this.#served.get(proof[ACCOUNT]);
    const isOwnLater = own !== undefined && own.logicalTime > (shared?.logicalTime ?? -Infinity);
    const served = servedListOf(list, before, isOwnLater ? own : shared);
    this.#lists.set(proof?.[ACCOUNT] ?? viewer.tokenHash, list);
    if (proof !== null) this.#served.set(proof[ACCOUNT], served);
    // Also with proof, so that the token is shown no older list after its proof has ended.
    this.#served.set(viewer.tokenHash, served);
    return list;
  }

  get byteSize(): number {
    return this.#lists.calculatedSize + this.#served.byteSize;
  }

  #contradicts(key: string | Account, logicalTime: number, ids: IdsDigest): boolean {
    const served = this.#served.get(key);
    // The evicted list may have had other ids.
    if (served === undefined) return logicalTime < this.#served.timeOf(key);
    return logicalTime < served.idsSince && served.ids !== ids;
  }
}

/** `former` is the record of the list served before; `before` is that list, or an older one if that list was evicted. */
function servedListOf(
  { rows, logicalTime }: PositionsAnswer,
  before: PositionsAnswer | null,
  former: ServedList | undefined,
): ServedList {
  // Usually only prices change. A digest of each list would cost a twentieth of a request's CPU.
  const isFormer = before?.logicalTime === former?.logicalTime;
  const isSame = isFormer && hasSameIds(before?.rows, rows);
  const ids = isSame && former !== undefined ? former.ids : digestOfIds(rows);
  return { ids, logicalTime, idsSince: former?.ids === ids ? former.idsSince : logicalTime };
}

function newer<T extends PositionsAnswer | null>(
  a: PositionsAnswer | null,
  b: T,
): PositionsAnswer | T {
  if (a === null) return b;
  return b === null || a.logicalTime > b.logicalTime ? a : b;
}

/** Whether both have the same ids in the same order. Equal bodies are mapped to the same array. */
function hasSameIds(a: PositionsAnswer['rows'] | undefined, b: PositionsAnswer['rows']): boolean {
  if (a === b) return true;
  return a?.length === b.length && a.every(({ id }, index) => id === b[index]?.id);
}

function bytesOf({ rows, bodyBytes }: PositionsAnswer): number {
  return BYTES_OF_A_LIST + Math.max(rows.length * BYTES_OF_A_POSITION, bodyBytes);
}
