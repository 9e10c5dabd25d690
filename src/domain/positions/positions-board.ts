import { LRUCache } from 'lru-cache';
import type { Sent } from '../../gateway/answers.ts';
import type { Position } from '../../gateway/model.ts';
import type { AccountProof } from '../auth/proof.ts';

/** A list of positions as one gateway call brought it. */
export interface PositionList extends Sent {
  readonly positions: readonly Position[];
  /** The body it came in, where it was an answer of op 12. */
  readonly bytes?: Buffer;
}

/** Who is served: with proof everybody of the account, else this one token. */
export interface BoardScope {
  readonly proof: AccountProof | null;
  readonly tokenHash: string;
}

/** Somebody who shows an account's lists as they come, and so holds the newest. */
export interface BoardWatcher {
  readonly newest: () => PositionList | null;
  readonly heard: (list: PositionList) => void;
}

export interface PositionsBoardOptions {
  /** Roughly what the lists may take up together. */
  readonly maxBytes?: number;
}

const DEFAULT_MAX_BYTES = 134_217_728;
const BYTES_OF_A_LIST = 200;
const BYTES_OF_A_POSITION = 600;

/**
 * The newest list served to each account, so that no later answer shows an older one. Newer is
 * whose call was sent later, whichever answer came first.
 */
export class PositionsBoard {
  // An evicted list only matters to calls that are under way at that moment.
  readonly #lists: LRUCache<string, PositionList>;
  readonly #watchers = new Map<string, BoardWatcher>();

  constructor({ maxBytes = DEFAULT_MAX_BYTES }: PositionsBoardOptions = {}) {
    this.#lists = new LRUCache({ maxSize: maxBytes, sizeCalculation: sizeOf });
  }

  /** The newest list known to whom this scope serves. */
  newest({ proof, tokenHash }: BoardScope): PositionList | null {
    const own = this.#lists.get(tokenKey(tokenHash)) ?? null;
    if (proof === null) return own;
    const shared = this.#lists.get(accountKey(proof)) ?? null;
    const live = this.#watchers.get(proof.login)?.newest() ?? null;
    return newer(newer(own, shared), live);
  }

  /** To be served instead of what was offered: that, or a newer list that was served before. */
  offer(scope: BoardScope, offered: PositionList): PositionList {
    const list = newer(this.newest(scope), offered) ?? offered;
    // Under the token as well: it must not be shown an older list should its proof lapse.
    this.#lists.set(tokenKey(scope.tokenHash), list);
    if (scope.proof !== null) {
      this.#lists.set(accountKey(scope.proof), list);
      this.#watchers.get(scope.proof.login)?.heard(list);
    }
    return list;
  }

  /** Tells of each list served to the account; one watcher per account. */
  watch({ login }: AccountProof, watcher: BoardWatcher): () => void {
    this.#watchers.set(login, watcher);
    return () => {
      if (this.#watchers.get(login) === watcher) this.#watchers.delete(login);
    };
  }
}

function newer(a: PositionList | null, b: PositionList | null): PositionList | null {
  if (a === null || b === null) return a ?? b;
  return b.sequence >= a.sequence ? b : a;
}

function sizeOf({ positions, bytes }: PositionList): number {
  return BYTES_OF_A_LIST + positions.length * BYTES_OF_A_POSITION + (bytes?.length ?? 0);
}

// The prefixes keep a login from ever being read as the hash of a token.
function tokenKey(tokenHash: string): string {
  return `token:${tokenHash}`;
}

function accountKey({ login }: AccountProof): string {
  return `account:${login}`;
}
