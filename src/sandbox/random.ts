/** Deterministic randomness: the same seed gives the same numbers on any machine. */

/** Returns the next number in [0, 1). */
export type Random = () => number;

/** FNV-1a with 32 bits. */
export function hash(text: string): number {
  let bits = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    bits = Math.imul(bits ^ text.charCodeAt(i), 0x01000193);
  }
  return bits >>> 0;
}

export function createRandom(seed: string): Random {
  let state = hash(seed);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    return mix(state) / 4294967296;
  };
}

/**
 * Approximately normal, mean 0, within ±3. It is stateless, so that the move of one instrument at a
 * tick never depends on how many others moved before it.
 */
export function noise(seed: number, index: number, tick: number): number {
  const base = (seed ^ Math.imul(index + 1, 0x9e3779b1) ^ Math.imul(tick + 1, 0x85ebca6b)) | 0;
  const sum = mix(base) + mix(base ^ 0x5bd1e995) + mix(base ^ 0x27d4eb2f);
  return (sum / 4294967296 - 1.5) * 2;
}

export function pick<T>(random: Random, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T;
}

function mix(seed: number): number {
  let bits = seed;
  bits = Math.imul(bits ^ (bits >>> 15), bits | 1);
  bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
  return (bits ^ (bits >>> 14)) >>> 0;
}
