import { getHeapStatistics } from 'node:v8';

const MB = 1024 ** 2;
// V8 keeps young objects in three semi-spaces, of 64 MB each in Node 24 and of 32 MB in Node 26.
const YOUNG_BYTES = process.versions.node.startsWith('24.') ? 192 * MB : 96 * MB;

/** The bytes that long-lived objects may take. V8's limit includes the young generation, which they cannot use. */
export function oldHeapLimit(): number {
  const limit = getHeapStatistics().heap_size_limit;
  // In a small heap the young generation is smaller too.
  return Math.max(limit - YOUNG_BYTES, limit / 2);
}
