import { LRUCache } from 'lru-cache';

/** Returns the value of a key; makes and stores it if there is none. */
export function memo<Key, Value>(
  known: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  make: (key: Key) => Value,
): Value {
  const before = known.get(key);
  if (before !== undefined) return before;
  const value = make(key);
  known.set(key, value);
  return value;
}

interface GrowingLruOptions<Value> {
  readonly maxEntries: number;
  /** The measured memory of an entry with its key, so that `calculatedSize` is the cache's size in bytes. */
  readonly entryBytes: number;
  readonly onEvict?: (value: Value) => void;
}

/** An LRU cache of small entries that grows as it fills. With `max`, lru-cache would allocate all entries in advance. */
export function growingLru<Key extends {}, Value extends {}>({
  maxEntries,
  entryBytes,
  onEvict,
}: GrowingLruOptions<Value>): LRUCache<Key, Value> {
  return new LRUCache({
    maxSize: maxEntries * entryBytes,
    sizeCalculation: () => entryBytes,
    ...(onEvict && {
      dispose: (value, _key, reason) => {
        if (reason === 'evict') onEvict(value);
      },
    }),
  });
}
