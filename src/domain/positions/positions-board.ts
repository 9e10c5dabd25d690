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

/** A place that a newer list takes over, since a feed brings one at each poll. */
interface Held {
  list: PositionList;
  readonly size: number;
}

const DEFAULT_MAX_BYTES = 134_217_728;
// By how much of it a place may be larger or smaller than was reckoned when it was taken.
const SIZE_SLACK = 0.25;
const BYTES_OF_A_LIST = 200;
const BYTES_OF_A_POSITION = 600;

/**
 * The newest list served to each account, so that no later answer shows an older one. Newer is
 * whose call was sent later, whichever answer came first.
 */
export class PositionsBoard {
  // An evicted list only matters to calls that are under way at that moment. Two caches, so that a
  // login is never read as the hash of a token.
  readonly #byToken: LRUCache<string, Held>;
  readonly #byAccount: LRUCache<string, Held>;
  readonly #watchers = new Map<string, BoardWatcher>();

  constructor({ maxBytes = DEFAULT_MAX_BYTES }: PositionsBoardOptions = {}) {
    const options = { maxSize: maxBytes / 2, sizeCalculation: ({ size }: Held) => size };
    this.#byToken = new LRUCache(options);
    this.#byAccount = new LRUCache(options);
  }

  /** The newest list known to whom this scope serves. */
  newest({ proof, tokenHash }: BoardScope): PositionList | null {
    const own = this.#byToken.get(tokenHash)?.list ?? null;
    if (proof === null) return own;
    const shared = this.#byAccount.get(proof.login)?.list ?? null;
    const live = this.#watchers.get(proof.login)?.newest() ?? null;
    return newer(newer(own, shared), live);
  }

  /** How many positions the newest list of an account has; 0 where none is known. */
  sizeFor(login: string): number {
    const live = this.#watchers.get(login)?.newest() ?? null;
    const list = newer(this.#byAccount.peek(login)?.list ?? null, live);
    return list?.positions.length ?? 0;
  }

  /** To be served instead of what was offered: that, or a newer list that was served before. */
  offer(scope: BoardScope, offered: PositionList): PositionList {
    const list = newer(this.newest(scope), offered) ?? offered;
    // Under the token as well: it must not be shown an older list should its proof lapse.
    hold(this.#byToken, scope.tokenHash, list);
    if (scope.proof !== null) {
      hold(this.#byAccount, scope.proof.login, list);
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

function hold(lists: LRUCache<string, Held>, key: string, list: PositionList): void {
  const held = lists.get(key);
  const size = sizeOf(list);
  if (held && Math.abs(size - held.size) <= held.size * SIZE_SLACK) held.list = list;
  else lists.set(key, { list, size });
}

function newer(a: PositionList | null, b: PositionList | null): PositionList | null {
  if (a === null || b === null) return a ?? b;
  return b.sequence >= a.sequence ? b : a;
}

function sizeOf({ positions, bytes }: PositionList): number {
  return BYTES_OF_A_LIST + positions.length * BYTES_OF_A_POSITION + (bytes?.length ?? 0);
}
