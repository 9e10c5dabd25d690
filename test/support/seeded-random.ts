import { createRandom, pick } from '../../src/sandbox/random.ts';

export type SeededRandom = ReturnType<typeof createSeededRandom>;

/** A repeatable random number generator: every value follows from one seed. */
export function createSeededRandom(seed: number) {
  const next = createRandom(String(seed));
  return {
    /** A number in [0, 1). */
    next,
    below: (count: number) => Math.floor(next() * count),
    happens: (share: number) => next() < share,
    pick: <T>(from: readonly T[]): T => pick(next, from),
  };
}
