import { LRUCache } from 'lru-cache';
import type { PositionsAnswer } from '../../gateway/operations/get-open-positions.ts';
import { digestOfIds, type IdsDigest } from '../../gateway/operations/holdings.ts';
import type { ProofLedger } from '../auth/proof.ts';
import type { Viewer } from '../auth/viewer.ts';
import { Watermarks } from './watermarks.ts';

// Measured. Only unshared texts make a position larger, by as much heap as their bytes in the body.
const BYTES_OF_A_LIST = 450;
const BYTES_OF_A_POSITION = 420;

/**
 * The newest list of op 12 that was served to each account, by when its call was sent, so that no later answer shows an
 * older list. With proof a list is shared by the account's tokens, otherwise it belongs to its token. `maxBytes` bounds the
 * estimated heap of all lists.
 */
export class PositionsBoard {
  readonly #ledger: Pick<ProofLedger, 'account'>;
  // Two maps, so that an account's key cannot be mistaken for a token's hash.
  readonly #byToken: ServedLists;
  readonly #byAccount: ServedLists;

  constructor(ledger: Pick<ProofLedger, 'account'>, maxBytes: number) {
    this.#ledger = ledger;
    this.#byToken = new ServedLists(maxBytes / 2);
    this.#byAccount = new ServedLists(maxBytes / 2);
  }

  newest(viewer: Viewer, proof = this.#ledger.account(viewer)): PositionsAnswer | null {
    const own = this.#byToken.get(viewer.tokenHash);
    return newer(proof && this.#byAccount.get(proof.account), own);
  }

  /** Whether a list from a later call was served to the viewer. The list itself may have been evicted. */
  hasNewer(viewer: Viewer, logicalTime: number, proof = this.#ledger.account(viewer)): boolean {
    if (logicalTime < this.#byToken.servedAt(viewer.tokenHash)) return true;
    return proof !== null && logicalTime < this.#byAccount.servedAt(proof.account);
  }

  /**
   * Whether the lists served to the viewer have other ids than a snapshot, and first had them after the snapshot was
   * requested. Then a position was opened or closed after it. If the gateway's two lists always differ, the snapshot is
   * read again once.
   */
  contradicts(viewer: Viewer, logicalTime: number, ids: IdsDigest): boolean {
    const proof = this.#ledger.account(viewer);
    if (this.#byToken.contradicts(viewer.tokenHash, logicalTime, ids)) return true;
    return proof !== null && this.#byAccount.contradicts(proof.account, logicalTime, ids);
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
    const list = newer(this.newest(viewer, proof), offered);
    if (this.hasNewer(viewer, list.logicalTime, proof)) return null;
    // Also stored for the token, so that it is not shown an older list if its proof lapses.
    this.#byToken.put(viewer.tokenHash, list);
    if (proof !== null) this.#byAccount.put(proof.account, list);
    return list;
  }

  /** The estimated size of all lists. An account's newest list is also stored for a token, and counts once. */
  get byteSize(): number {
    const lists = Math.max(this.#byToken.listBytes, this.#byAccount.listBytes);
    return lists + this.#byToken.watermarkBytes + this.#byAccount.watermarkBytes;
  }
}

export function newer<T extends PositionsAnswer | null>(
  a: PositionsAnswer | null,
  b: T,
): PositionsAnswer | T {
  if (a === null) return b;
  return b === null || a.logicalTime > b.logicalTime ? a : b;
}

/** The ids of a served list, the time of its call, and the time of the first call with these ids. */
interface Served {
  readonly ids: IdsDigest;
  readonly at: number;
  readonly idsSince: number;
}

/** The newest list under each key. Its watermark outlives it, so that no older list is served after an eviction. */
class ServedLists {
  readonly #lists: LRUCache<string, PositionsAnswer>;
  readonly #served = new Watermarks<Served>();

  constructor(maxBytes: number) {
    this.#lists = new LRUCache({ maxSize: Math.ceil(maxBytes), sizeCalculation: bytesOf });
  }

  get(key: string): PositionsAnswer | null {
    return this.#lists.get(key) ?? null;
  }

  servedAt(key: string): number {
    return this.#served.at(key);
  }

  contradicts(key: string, logicalTime: number, ids: IdsDigest): boolean {
    const served = this.#served.get(key);
    // The evicted list may have had other ids.
    if (served === undefined) return logicalTime < this.#served.at(key);
    return logicalTime < served.idsSince && served.ids !== ids;
  }

  put(key: string, list: PositionsAnswer): void {
    const former = this.#served.get(key);
    const before = this.#lists.get(key)?.positions;
    const { positions, logicalTime: at } = list;
    // Usually only prices change. A digest of each list would cost a twentieth of a request's CPU.
    const isSame = former !== undefined && hasSameIds(before, positions);
    const ids = isSame ? former.ids : digestOfIds(positions);
    const idsSince = former?.ids === ids ? former.idsSince : at;
    this.#lists.set(key, list);
    this.#served.set(key, { ids, at, idsSince });
  }

  get listBytes(): number {
    return this.#lists.calculatedSize;
  }

  get watermarkBytes(): number {
    return this.#served.byteSize;
  }
}

/** Whether both have the same ids in the same order. Equal bodies are mapped to the same array. */
function hasSameIds(
  a: PositionsAnswer['positions'] | undefined,
  b: PositionsAnswer['positions'],
): boolean {
  if (a === undefined || a === b) return a === b;
  return a.length === b.length && a.every(({ id }, at) => id === b[at]?.id);
}

function bytesOf({ positions, bodyBytes }: PositionsAnswer): number {
  return BYTES_OF_A_LIST + Math.max(positions.length * BYTES_OF_A_POSITION, bodyBytes);
}
