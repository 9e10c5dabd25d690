import type { Count } from './counter.ts';

/** Whether a cache had what was looked up. */
export interface CacheReads {
  readonly hit: Count;
  readonly miss: Count;
}
