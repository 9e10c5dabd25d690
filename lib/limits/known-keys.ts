import type { Clock } from '../clock.ts';
import { growingLru } from '../growing-lru.ts';
import type { MaybePromise } from '../maybe-promise.ts';

/** Keys that replicas share, or that outlive the process, each until a date. */
export interface SharedKeys {
  /** The keys from before the start. */
  readonly known?: Iterable<readonly [key: string, untilMs: number]>;
  add(key: string, untilMs: number): void;
  /** `wasHere`: whether this process knew it. */
  delete(key: string, wasHere: boolean): void;
  /** False while the store does not answer. */
  has(key: string): Promise<boolean>;
}

export type KnownKeys = ReturnType<typeof createKnownKeys>;

const MAX_KEYS = 100_000;
const JUST_MS = 60_000;

/** Remembers what has proved itself once, such as the hashes of tokens; without `shared` as long as the process lives. */
export function createKnownKeys(clock: Clock, lifeMs: number, shared?: SharedKeys) {
  const addedAtMs = growingLru<string, number>({ maxEntries: MAX_KEYS, entryBytes: 200 });
  for (const [key, untilMs] of shared?.known ?? [])
    addedAtMs.set(key, clock.now() - lifeMs + (untilMs - clock.date()));
  const isYounger = (key: string, ms: number) =>
    clock.now() - (addedAtMs.get(key) ?? -Infinity) < ms;
  return {
    get byteSize(): number {
      return addedAtMs.calculatedSize;
    },
    add(key: string): void {
      addedAtMs.set(key, clock.now());
      shared?.add(key, clock.date() + lifeMs);
    },
    delete(key: string): void {
      const wasHere = addedAtMs.delete(key);
      shared?.delete(key, wasHere);
    },
    has: (key: string): MaybePromise<boolean> =>
      isYounger(key, lifeMs) || (shared?.has(key) ?? false),
    /** The store is not asked. */
    hasHere: (key: string): boolean => isYounger(key, lifeMs),
    isNew: (key: string): boolean => isYounger(key, JUST_MS),
  };
}
