import { LRUCache } from 'lru-cache';
import type { PositionsAnswer } from '../../gateway/answers.ts';
import type { Position } from '../../gateway/model.ts';

interface Seen {
  sequence: number;
  /** In the order in which they were received. */
  readonly ids: readonly string[];
}

const MAX_BYTES = 4 * 1024 * 1024;
// The measured memory of an entry without its ids, and of an id.
const BYTES_OF_AN_ENTRY = 260;
const BYTES_OF_AN_ID = 40;

/**
 * The last known positions of each account. A snapshot whose own list differs was taken before a position
 * opened or closed, so its balance and orders cannot be trusted either.
 */
export class Membership {
  readonly #seen = new LRUCache<string, Seen>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ ids }) => BYTES_OF_AN_ENTRY + ids.length * BYTES_OF_AN_ID,
  });

  get byteSize(): number {
    return this.#seen.calculatedSize;
  }

  saw(scope: string, { sequence, positions }: PositionsAnswer): void {
    const before = this.#seen.get(scope);
    if (before !== undefined && before.sequence > sequence) return;
    // The hot path: in a moving market prices change, but not the positions or their order.
    if (before !== undefined && isInOrder(before.ids, positions)) before.sequence = sequence;
    else this.#seen.set(scope, { sequence, ids: idsOf(positions) });
  }

  contradicts(scope: string, sequence: number, positions: readonly Position[]): boolean {
    const seen = this.#seen.get(scope);
    return seen !== undefined && seen.sequence > sequence && !isSame(seen.ids, positions);
  }
}

/** Compares as sets, because the interface promises no order. No list has an id twice. */
export function isSame(ids: readonly string[], positions: readonly Position[]): boolean {
  if (isInOrder(ids, positions)) return true;
  const known = new Set(ids);
  return ids.length === positions.length && positions.every(({ id }) => known.has(id));
}

function isInOrder(ids: readonly string[], positions: readonly Position[]): boolean {
  return ids.length === positions.length && positions.every(({ id }, at) => id === ids[at]);
}

export function idsOf(positions: readonly Position[]): readonly string[] {
  return positions.map(({ id }) => id);
}
