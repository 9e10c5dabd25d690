import { LRUCache } from 'lru-cache';

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
