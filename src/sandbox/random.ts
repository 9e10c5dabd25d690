/** Returns the next number in [0, 1). The same seed gives the same numbers on any machine. */
export type Random = () => number;

const TWO_TO_32 = 2 ** 32;

/** The hash FNV-1a with 32 bits. */
export function hash(text: string): number {
  let bits = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    bits = Math.imul(bits ^ text.charCodeAt(i), 0x01000193);
  }
  return bits >>> 0;
}

/** The generator Mulberry32. */
export function createRandom(seed: string): Random {
  let state = hash(seed);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    return mix(state) / TWO_TO_32;
  };
}

/**
 * A random number that is approximately normally distributed, with mean 0 and within ±3. It is computed without a state, so
 * that the move of an instrument at a tick does not depend on how many others moved before.
 */
export function noise(seed: number, index: number, tick: number): number {
  const base = (seed ^ Math.imul(index + 1, 0x9e3779b1) ^ Math.imul(tick + 1, 0x85ebca6b)) | 0;
  // The sum of three uniform numbers is nearly normal. Its mean is 1.5, and its standard deviation a half.
  const sum = mix(base) + mix(base ^ 0x5bd1e995) + mix(base ^ 0x27d4eb2f);
  return (sum / TWO_TO_32 - 1.5) * 2;
}

export function pick<T>(random: Random, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T;
}

/** Spreads the bits of a number: the last step of Mulberry32. */
function mix(seed: number): number {
  let bits = seed;
  bits = Math.imul(bits ^ (bits >>> 15), bits | 1);
  bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
  return (bits ^ (bits >>> 14)) >>> 0;
}
