import type { ExecutionResult } from 'graphql';
import { LRUCache } from 'lru-cache';
import { alone } from '../../lib/alone.ts';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import { memo } from '../../lib/memo.ts';
import type { CacheReads } from '../../lib/metrics/registry.ts';
import { type Encoding, pack } from '../../lib/pack.ts';

interface CachedResponse {
  readonly etag: string;
  /** Null where the bytes are not cached, since they differ for each request. */
  readonly plain: Buffer | null;
}

/** A response, with each encoding that a client has requested. */
interface Entry {
  readonly answer: CachedResponse | null;
  readonly br?: Buffer;
  readonly gzip?: Buffer;
}

const SHARED_QUALITY = 5;
// The measured overhead of an entry, so that a flood of tiny responses counts at its true size.
const BYTES_PER_ENTRY = 700;

export type ResponseCache = ReturnType<typeof createResponseCache>;

/**
 * Responses made of what a group shares alone, as bytes, equal for one version, document and variables. An entry belongs
 * to no viewer, as marks promised and its run confirmed; the viewer is proved before anything is sent.
 */
export function createResponseCache(maxBytes: number, reads: CacheReads | null = null) {
  const underWay = new Map<string, Promise<Buffer>>();
  const entries = new LRUCache<string, Entry>({ maxSize: maxBytes, sizeCalculation: sizeOf });

  function keep(name: string, encoding: Encoding, bytes: Buffer): Buffer {
    const packed = alone(bytes);
    entries.set(name, { answer: null, ...entries.peek(name), [encoding]: packed });
    return packed;
  }

  return {
    reads,
    get byteSize(): number {
      return entries.calculatedSize;
    },
    get(name: string): CachedResponse | undefined {
      return entries.get(name)?.answer ?? undefined;
    },
    set(name: string, { etag, plain }: CachedResponse): void {
      const answer = { etag, plain: plain && alone(plain) };
      entries.set(name, { ...entries.peek(name), answer });
    },
    /** Compresses each response once, off the event loop; concurrent requests share one single flight. */
    packed(name: string, plain: Buffer, encoding: Encoding): MaybePromise<Buffer> {
      const cached = entries.get(name)?.[encoding];
      if (cached) return cached;
      const task = `${encoding} ${name}`;
      return memo(underWay, task, () =>
        pack(plain, encoding, SHARED_QUALITY)
          .then((bytes) => keep(name, encoding, bytes))
          .finally(() => underWay.delete(task)),
      );
    },
  };
}

function sizeOf({ answer, br, gzip }: Entry, name: string): number {
  const bytes = (answer?.plain?.length ?? 0) + (br?.length ?? 0) + (gzip?.length ?? 0);
  // The key contains what a client wrote, in up to two bytes for each character.
  return BYTES_PER_ENTRY + 2 * name.length + bytes;
}

interface ResultBytes {
  readonly etag: string;
  readonly freshSeconds: number;
  /** Null means 304: the client already has this very response. */
  readonly bytes: Buffer | null;
  /** Null where the bytes are the request's own, so that compressing them cannot be shared. */
  readonly packed: ((encoding: Encoding) => MaybePromise<Buffer>) | null;
}

/**
 * A result that can be named, cached and sent again unchanged, as its transport sends it. Its data is parsed for whoever
 * looks at it, and is an own property, so that a copy of the result is one of the data, and not of the bytes.
 */
export class CachedResult implements ExecutionResult {
  declare readonly data: Record<string, unknown> | null;
  declare readonly extensions?: Record<string, unknown>;
  /** One accessor for all results: V8 would keep a closure of each in the description of its shape, and its request with it. */
  static readonly #DATA: PropertyDescriptor = {
    enumerable: true,
    get(this: CachedResult) {
      const { bytes } = this.#sent;
      this.#data ??= bytes === null ? null : JSON.parse(bytes.toString()).data;
      return this.#data ?? null;
    },
  };
  readonly #sent: ResultBytes;
  #data: Record<string, unknown> | null | undefined;

  constructor(sent: ResultBytes, extensions?: Record<string, unknown>) {
    this.#sent = sent;
    Object.defineProperty(this, 'data', CachedResult.#DATA);
    if (extensions)
      Object.defineProperty(this, 'extensions', { enumerable: true, value: extensions });
  }

  get sent(): ResultBytes {
    return this.#sent;
  }

  withExtensions(extensions: Record<string, unknown>): CachedResult {
    if (this.#sent.bytes === null) return this;
    const end = Buffer.from(`,"extensions":${JSON.stringify(extensions)}}`);
    const bytes = Buffer.concat([this.#sent.bytes.subarray(0, -1), end]);
    return new CachedResult({ ...this.#sent, bytes, packed: null }, extensions);
  }
}
