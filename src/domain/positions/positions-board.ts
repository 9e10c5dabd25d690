import { LRUCache } from 'lru-cache';
import { Watermarks } from '../../../lib/watermarks.ts';
import type { PositionsAnswer } from '../../gateway/answers.ts';
import { digestOf } from '../account/relation.ts';
import type { AccountProof } from '../auth/proof.ts';

/** The readers of a list: with proof all of the account's tokens, else this one token. */
export interface BoardScope {
  readonly proof: AccountProof | null;
  readonly tokenHash: string;
}

/** A feed, which shows an account's lists as they are served, and so has the newest. */
export interface BoardWatcher {
  readonly newest: () => PositionsAnswer | null;
  readonly onList: (list: PositionsAnswer) => void;
}

export interface PositionsBoardOptions {
  /** Estimated heap of all lists. */
  readonly maxBytes: number;
}

/** A list that was served: when it was asked for, and the digest of its ids. */
interface Served {
  readonly at: number;
  readonly members: number;
}

interface CacheEntry {
  readonly list: PositionsAnswer;
  readonly members: number;
}

// Measured. The texts of a position take as much of the heap as of the body, the rest of it half as much again.
const BYTES_OF_A_LIST = 450;
const BYTES_BESIDE_THE_BODY = 85;

/**
 * The newest list of op 12 that was served to each account, so that no later answer shows an older one. A list is
 * newer if its call was sent later, whichever answer was received first. A snapshot's rows are not among them: op 10
 * may lag behind op 12, and everybody's list would go back.
 */
export class PositionsBoard {
  // The watermarks outlive the lists, so that an eviction brings no older one back. All are separate, so that a
  // key of an account is never read as the hash of a token.
  readonly #byToken: LRUCache<string, CacheEntry>;
  readonly #byAccount: LRUCache<string, CacheEntry>;
  readonly #newestByToken = new Watermarks<Served>();
  readonly #newestByAccount = new Watermarks<Served>();
  readonly #watchers = new Map<string, BoardWatcher>();

  constructor({ maxBytes }: PositionsBoardOptions) {
    const options = {
      maxSize: Math.ceil(maxBytes / 2),
      sizeCalculation: ({ list }: CacheEntry) => sizeOf(list),
    };
    this.#byToken = new LRUCache(options);
    this.#byAccount = new LRUCache(options);
  }

  /** The estimated size of all lists; an account's newest one is among its tokens' too, and counts once. */
  get byteSize(): number {
    const lists = Math.max(this.#byToken.calculatedSize, this.#byAccount.calculatedSize);
    return lists + this.#newestByToken.byteSize + this.#newestByAccount.byteSize;
  }

  /** The newest list that this scope's readers may see. */
  newest({ proof, tokenHash }: BoardScope): PositionsAnswer | null {
    const own = this.#byToken.get(tokenHash)?.list ?? null;
    if (proof === null) return own;
    const shared = this.#byAccount.get(proof.account)?.list ?? null;
    const live = this.#watchers.get(proof.account)?.newest() ?? null;
    return newer(newer(own, shared), live);
  }

  /** Whether this scope's readers were served a list whose call was sent later, which may be forgotten. */
  hasNewer({ proof, tokenHash }: BoardScope, logicalTime: number): boolean {
    if (logicalTime < this.#newestByToken.at(tokenHash)) return true;
    return proof !== null && logicalTime < this.#newestByAccount.at(proof.account);
  }

  /**
   * Whether this scope's readers were served a list that was asked for after a snapshot, and has other ids than the snapshot: then it
   * was taken before a position opened or closed, and its balance and orders are outdated too. A list that is forgotten may have others.
   */
  contradicts({ proof, tokenHash }: BoardScope, logicalTime: number, members: number): boolean {
    const differs = (newest: Watermarks<Served>, key: string) =>
      logicalTime < newest.at(key) && newest.get(key)?.members !== members;
    if (differs(this.#newestByToken, tokenHash)) return true;
    return proof !== null && differs(this.#newestByAccount, proof.account);
  }

  /** The number of positions in an account's newest list; 0 where none is known. */
  sizeFor(account: string): number {
    const live = this.#watchers.get(account)?.newest() ?? null;
    const list = newer(this.#byAccount.peek(account)?.list ?? null, live);
    return list?.positions.length ?? 0;
  }

  /**
   * Returns the list to serve: the offered one, or a newer one that was served before. Null where that one is
   * forgotten, and the gateway has to be asked again.
   */
  offer(scope: BoardScope, offered: PositionsAnswer): PositionsAnswer | null {
    const list = this.keep(scope, offered);
    if (scope.proof !== null && list !== null)
      this.#watchers.get(scope.proof.account)?.onList(list);
    return list;
  }

  /** Does what `offer` does, without calling the watcher: for the watcher's own lists. */
  keep(scope: BoardScope, offered: PositionsAnswer): PositionsAnswer | null {
    const { proof, tokenHash } = scope;
    const list = newer(this.newest(scope), offered);
    const { logicalTime: at, positions } = list;
    if (this.hasNewer(scope, at)) return null;
    const cached = this.#byToken.get(tokenHash);
    // Equal bytes are mapped to the same array.
    const isUnchanged = cached?.list.positions === positions;
    const members = isUnchanged ? cached.members : digestOf(positions.map(({ id }) => id));
    // Stored under the token as well: it must not be shown an older list should its proof lapse.
    this.#byToken.set(tokenHash, { list, members });
    this.#newestByToken.set(tokenHash, { at, members });
    if (proof === null) return list;
    this.#byAccount.set(proof.account, { list, members });
    this.#newestByAccount.set(proof.account, { at, members });
    return list;
  }

  /** Calls the watcher with each list that is offered to the account; there is one watcher per account. */
  watch({ account }: AccountProof, watcher: BoardWatcher): () => void {
    this.#watchers.set(account, watcher);
    return () => {
      if (this.#watchers.get(account) === watcher) this.#watchers.delete(account);
    };
  }
}

function newer<T extends PositionsAnswer | null>(
  a: PositionsAnswer | null,
  b: T,
): PositionsAnswer | T {
  if (a === null) return b;
  return b === null || a.logicalTime > b.logicalTime ? a : b;
}

function sizeOf({ positions, bytes }: PositionsAnswer): number {
  return BYTES_OF_A_LIST + positions.length * BYTES_BESIDE_THE_BODY + 2 * bytes.length;
}
