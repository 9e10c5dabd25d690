import { getHeapStatistics } from 'node:v8';

const YOUNG_GENERATION_BYTES = 96 * 1024 ** 2;

/** V8's limit includes the young generation's, which what lives for long cannot use. */
export function oldHeapLimit(): number {
  const { heap_size_limit: limit } = getHeapStatistics();
  return Math.max(limit - YOUNG_GENERATION_BYTES, limit / 2);
}
