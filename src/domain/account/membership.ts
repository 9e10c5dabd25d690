import { LRUCache } from 'lru-cache';
import type { PositionsAnswer } from '../../gateway/answers.ts';
import type { Position } from '../../gateway/model.ts';

interface Seen {
  readonly sequence: number;
  readonly ids: string;
}

const SCOPES = 50_000;

/**
 * Which positions each account was last seen to have. A snapshot whose own list differs was taken
 * before something opened or closed, so its balance and orders cannot be trusted either.
 */
export class Membership {
  readonly #seen = new LRUCache<string, Seen>({ max: SCOPES });
  // An unchanged answer carries the same array, whose ids need not be read again.
  readonly #ids = new WeakMap<readonly Position[], string>();

  saw(scope: string, { sequence, positions }: PositionsAnswer): void {
    const before = this.#seen.get(scope);
    if (before && before.sequence > sequence) return;
    this.#seen.set(scope, { sequence, ids: this.idsOf(positions) });
  }

  contradicts(scope: string, sequence: number, positions: readonly Position[]): boolean {
    const seen = this.#seen.get(scope);
    return seen !== undefined && seen.sequence > sequence && seen.ids !== this.idsOf(positions);
  }

  idsOf(positions: readonly Position[]): string {
    const known = this.#ids.get(positions);
    if (known !== undefined) return known;
    const ids = JSON.stringify(positions.map(({ id }) => id).sort());
    this.#ids.set(positions, ids);
    return ids;
  }
}
