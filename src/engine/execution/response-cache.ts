import type { ExecutionResult } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import { memo } from '../../lib/memo.ts';
import { type Encoding, pack } from '../../lib/pack.ts';

/** A response, with each encoding that a client has requested. */
interface CachedResponse {
  readonly etag: string;
  readonly plain: Buffer;
  readonly br?: Buffer;
  readonly gzip?: Buffer;
}

// A shared response is compressed once for many readers, so it is worth more time than a response with one reader.
const SHARED_QUALITY = 5;
// The measured overhead of an entry. It makes a flood of tiny responses count at its true size.
const BYTES_PER_ENTRY = 700;

/**
 * Responses as bytes, which contain only data that a group of viewers shares. The same version of that data, the same
 * document and the same variables give the same bytes. No entry contains data of one viewer: the schema marks shared fields,
 * and the execution has checked the marks. A viewer is proved to belong to the group before an entry is sent.
 */
export class ResponseCache {
  readonly #packing = new Map<string, Promise<Buffer>>();
  readonly #entries: LRUCache<string, CachedResponse>;

  constructor(maxBytes: number) {
    this.#entries = new LRUCache({ maxSize: maxBytes, sizeCalculation: sizeOf });
  }

  get byteSize(): number {
    return this.#entries.calculatedSize;
  }

  get(key: string): CachedResponse | undefined {
    return this.#entries.get(key);
  }

  set(key: string, etag: string, plain: Buffer): void {
    this.#entries.set(key, { etag, plain: ownBuffer(plain) });
  }

  /** Compresses each response once, off the event loop. Concurrent requests share one task. */
  packed(key: string, plain: Buffer, encoding: Encoding): MaybePromise<Buffer> {
    const cached = this.#entries.get(key)?.[encoding];
    if (cached) return cached;
    const task = `${encoding} ${key}`;
    return memo(this.#packing, task, () =>
      pack(plain, encoding, SHARED_QUALITY)
        .then((bytes) => {
          const packed = ownBuffer(bytes);
          const response = this.#entries.peek(key);
          if (response) this.#entries.set(key, { ...response, [encoding]: packed });
          return packed;
        })
        .finally(() => this.#packing.delete(task)),
    );
  }
}

function sizeOf({ plain, br, gzip }: CachedResponse, key: string): number {
  const bytes = plain.length + (br?.length ?? 0) + (gzip?.length ?? 0);
  // The key contains a client's text, with up to two bytes for each character.
  return BYTES_PER_ENTRY + 2 * key.length + bytes;
}

/** Copies bytes that are a part of a larger buffer, because a small entry would keep the whole buffer in memory. */
function ownBuffer(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

interface ResultBytes {
  readonly etag: string;
  readonly freshSeconds: number;
  readonly bytes: Buffer;
  /** Null if the bytes are specific to the request, so that compressing them cannot be shared. */
  readonly packed: ((encoding: Encoding) => MaybePromise<Buffer>) | null;
}

/** A result with an ETag, which can be cached and sent again unchanged. */
export class CachedResult implements ExecutionResult {
  /** Private, so that a plugin's copy of the result contains only its data. */
  readonly #sent: ResultBytes;
  readonly data: Record<string, unknown> | null;

  /** `data` is for plugins. */
  constructor(sent: ResultBytes, data: Record<string, unknown> | null = null) {
    this.#sent = sent;
    this.data = data;
  }

  get sent(): ResultBytes {
    return this.#sent;
  }

  /** Returns the same result with extensions. Plugins have already run, so its data is not needed. */
  withExtensions(extensions: Record<string, unknown>): CachedResult {
    const withoutBrace = this.#sent.bytes.subarray(0, -1);
    const end = Buffer.from(`,"extensions":${JSON.stringify(extensions)}}`);
    const bytes = Buffer.concat([withoutBrace, end]);
    return new CachedResult({ ...this.#sent, bytes, packed: null });
  }
}
