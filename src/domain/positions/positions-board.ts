import { LRUCache } from 'lru-cache';
import type { Account } from '../../../lib/account.ts';
import { Watermarks } from '../../../lib/watermarks.ts';
import type { PositionsAnswer } from '../../gateway/answers.ts';
import { inSnapshot, sizeOf } from '../../gateway/wire/session.ts';
import { isSame, type KnownList, type Members, membersOf } from '../account/relation.ts';
import type { ProofLedger } from '../auth/proof.ts';
import type { Viewer } from '../auth/viewer.ts';

/** A list that was served: its members, when it was asked for, and when the first one that had them. */
interface Served extends Members {
  readonly at: number;
  readonly since: number;
}

// Measured. Only texts of its own make a position larger; they take as much of the heap as of the body.
const BYTES_OF_A_LIST = 450;
const BYTES_OF_A_POSITION = 420;

export type PositionsBoard = ReturnType<typeof createPositionsBoard>;

/**
 * The newest list of op 12 that was served to each account, by when its call was sent, so that no later answer shows an older
 * one. A snapshot's rows are not among them: op 10 may lag behind op 12, and everybody's list would go back. With proof a list
 * is for all of the account's tokens, else for this one. `maxBytes`: the estimated heap of all lists.
 */
export function createPositionsBoard(ledger: Pick<ProofLedger, 'account'>, maxBytes: number) {
  // The watermarks outlive the lists, so that an eviction brings no older one back. All are separate, so that a
  // key of an account is never read as the hash of a token.
  const options = { maxSize: Math.ceil(maxBytes / 2), sizeCalculation: bytesOf };
  const byToken = new LRUCache<string, PositionsAnswer>(options);
  const byAccount = new LRUCache<string, PositionsAnswer>(options);
  const newestByToken = new Watermarks<Served>();
  const newestByAccount = new Watermarks<Served>();

  function newest(viewer: Viewer, proof = ledger.account(viewer)): PositionsAnswer | null {
    const own = byToken.get(viewer.tokenHash) ?? null;
    return newer(proof && (byAccount.get(proof.account) ?? null), own);
  }

  /** Whether a list was served to the viewer whose call was sent later, which may be forgotten. */
  function hasNewer(viewer: Viewer, logicalTime: number, proof = ledger.account(viewer)): boolean {
    if (logicalTime < newestByToken.at(viewer.tokenHash)) return true;
    return proof !== null && logicalTime < newestByAccount.at(proof.account);
  }

  return {
    newest,
    hasNewer,
    /** The estimated size of all lists; an account's newest one is among its tokens' too, and counts once. */
    get byteSize(): number {
      const lists = Math.max(byToken.calculatedSize, byAccount.calculatedSize);
      return lists + newestByToken.byteSize + newestByAccount.byteSize;
    },
    /**
     * Whether the lists that were served to the viewer have other ids or sizes than a snapshot, and only since it was asked for: then it
     * was taken before a position changed, and its balance and orders are outdated too. A gateway whose two lists differ for good
     * is asked again once. A list that is forgotten may have others.
     */
    contradicts(viewer: Viewer, logicalTime: number, members: Members): boolean {
      const proof = ledger.account(viewer);
      const differs = (newest: Watermarks<Served>, key: string) => {
        const served = newest.get(key);
        const since = served?.since ?? newest.at(key);
        return logicalTime < since && !(served && isSame(served, members));
      };
      if (differs(newestByToken, viewer.tokenHash)) return true;
      return proof !== null && differs(newestByAccount, proof.account);
    },
    /** The list with the time since when its members are known, where that is before its own call. */
    withMembersTime(viewer: Viewer, list: PositionsAnswer): KnownList {
      const proof = ledger.account(viewer);
      const served =
        proof === null ? newestByToken.get(viewer.tokenHash) : newestByAccount.get(proof.account);
      const isKnown = served?.at === list.logicalTime && served.since < served.at;
      return isKnown ? { ...list, membersTime: served.since } : list;
    },
    /** The number of positions in an account's newest list; 0 where none is known. */
    sizeFor: (account: Account): number => byAccount.peek(account)?.positions.length ?? 0,
    /**
     * Returns the list to serve: the offered one, or a newer one that was served before. Null where that one is
     * forgotten, and the gateway has to be asked again. The very call that brought the list may have proved the token.
     */
    offer(
      viewer: Viewer,
      offered: PositionsAnswer,
      proof = ledger.account(viewer),
    ): PositionsAnswer | null {
      const { tokenHash } = viewer;
      const list = newer(newest(viewer, proof), offered);
      const { logicalTime: at, positions } = list;
      if (hasNewer(viewer, at, proof)) return null;
      const former = byToken.get(tokenHash)?.positions;
      // From one list to the next mostly prices change: a digest for each would be a twentieth of a request.
      const before = sameSizes(former, positions) ? newestByToken.get(tokenHash) : undefined;
      const members = before ?? membersOf(inSnapshot(positions));
      const served = (newest: Watermarks<Served>, key: string): Served => {
        const former = newest.get(key);
        const since = former && (former === before || isSame(former, members)) ? former.since : at;
        return { ids: members.ids, sizes: members.sizes, at, since };
      };
      // Stored under the token as well: it must not be shown an older list should its proof lapse.
      byToken.set(tokenHash, list);
      newestByToken.set(tokenHash, served(newestByToken, tokenHash));
      if (proof === null) return list;
      byAccount.set(proof.account, list);
      newestByAccount.set(proof.account, served(newestByAccount, proof.account));
      return list;
    },
  };
}

export function newer<T extends PositionsAnswer | null>(
  a: PositionsAnswer | null,
  b: T,
): PositionsAnswer | T {
  if (a === null) return b;
  return b === null || a.logicalTime > b.logicalTime ? a : b;
}

/** Whether both have the same positions of the same sizes, in the same order. Equal bytes are mapped to the same array. */
function sameSizes(a: PositionsAnswer['positions'] | undefined, b: PositionsAnswer['positions']) {
  if (a === undefined || a === b) return a === b;
  if (a.length !== b.length) return false;
  return a.every((one, at) => {
    const other = b[at];
    return other !== undefined && one.id === other.id && sizeOf(one) === sizeOf(other);
  });
}

function bytesOf({ positions, bodyBytes }: PositionsAnswer): number {
  return BYTES_OF_A_LIST + Math.max(positions.length * BYTES_OF_A_POSITION, bodyBytes);
}
