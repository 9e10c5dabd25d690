import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The bytes in use after a garbage collection, on the heap and in external buffers. */
export function heldBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

export function collectGarbage(): void {
  const collect = collector();
  // The second collection takes what the finalizers of the first one have released.
  collect();
  collect();
}

/** Collects young objects alone. */
export function scavenge(): void {
  collector()({ type: 'minor' });
}

function collector(): (options?: { readonly type: 'minor' }) => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as ReturnType<typeof collector>;
}
