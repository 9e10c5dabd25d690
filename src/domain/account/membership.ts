import { Watermarks } from '../../../lib/watermarks.ts';
import type { PositionsAnswer } from '../../gateway/answers.ts';

/** `at` is the logical time of the last call, `members` the digest of the ids that it brought. */
interface Seen {
  readonly at: number;
  readonly members: number;
}

/**
 * The last known positions of each account. A snapshot whose own list differs was taken before a position
 * opened or closed, so its balance and orders cannot be trusted either.
 */
export class Membership {
  readonly #seen = new Watermarks<Seen>();

  get byteSize(): number {
    return this.#seen.byteSize;
  }

  saw(scope: string, { logicalTime }: Pick<PositionsAnswer, 'logicalTime'>, members: number): void {
    const before = this.#seen.get(scope);
    if (before === undefined || before.at <= logicalTime) {
      this.#seen.set(scope, { at: logicalTime, members });
    }
  }

  /** A snapshot may contradict a list that is forgotten. */
  contradicts(scope: string, logicalTime: number, members: number): boolean {
    return logicalTime < this.#seen.at(scope) && this.#seen.get(scope)?.members !== members;
  }
}

/**
 * A number of 53 bits that is the same for the same ids in any order, since the interface promises none. The
 * ids themselves would be most of what is kept of an account.
 */
export function digestOf(ids: readonly string[]): number {
  let [high, low] = [ids.length, 0];
  for (const id of ids) {
    let [one, other] = [0x811c9dc5, 0x2545f491];
    for (let at = 0; at < id.length; at += 1) {
      const code = id.charCodeAt(at);
      one = Math.imul(one ^ code, 0x01000193);
      other = Math.imul(other ^ code, 0x5bd1e995);
      other ^= other >>> 15;
    }
    // Sums keep no order, so each id is mixed well before it is added.
    high = (high + mixed(one)) | 0;
    low = (low + mixed(other)) | 0;
  }
  return (high >>> 0) * 2 ** 21 + (low >>> 11);
}

/** The last step of MurmurHash3. */
function mixed(hash: number): number {
  let bits = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}
