import type { ExecutionResult } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import { memo } from '../../lib/memo.ts';
import { type Encoding, pack } from '../../lib/pack.ts';

/** A response, with each encoding that a client has requested. */
interface CachedResponse {
  readonly etag: string;
  /** Null where the bytes are not cached, since they differ for each request. */
  readonly plain: Buffer | null;
  readonly br?: Buffer;
  readonly gzip?: Buffer;
}

const SHARED_QUALITY = 5;
// The measured overhead of an entry, so that a flood of tiny responses counts at its true size.
const BYTES_PER_ENTRY = 700;

/**
 * Responses made of what a group shares alone, as bytes, equal for one version, document and variables. An entry belongs
 * to no viewer, as marks promised and its run confirmed; the viewer is proved before anything is sent.
 */
export class ResponseCache {
  readonly #underWay = new Map<string, Promise<Buffer>>();
  readonly #entries: LRUCache<string, CachedResponse>;

  constructor(maxBytes: number) {
    this.#entries = new LRUCache({ maxSize: maxBytes, sizeCalculation: sizeOf });
  }

  get byteSize(): number {
    return this.#entries.calculatedSize;
  }

  get(name: string): CachedResponse | undefined {
    return this.#entries.get(name);
  }

  set(name: string, etag: string, plain: Buffer | null): void {
    this.#entries.set(name, { etag, plain: plain && alone(plain) });
  }

  /** Compresses each response once, off the event loop; concurrent requests share one single flight. */
  packed(name: string, plain: Buffer, encoding: Encoding): MaybePromise<Buffer> {
    const cached = this.#entries.get(name)?.[encoding];
    if (cached) return cached;
    const task = `${encoding} ${name}`;
    return memo(this.#underWay, task, () =>
      pack(plain, encoding, SHARED_QUALITY)
        .then((bytes) => {
          const packed = alone(bytes);
          const response = this.#entries.peek(name);
          if (response) this.#entries.set(name, { ...response, [encoding]: packed });
          return packed;
        })
        .finally(() => this.#underWay.delete(task)),
    );
  }
}

function sizeOf({ plain, br, gzip }: CachedResponse, name: string): number {
  const bytes = (plain?.length ?? 0) + (br?.length ?? 0) + (gzip?.length ?? 0);
  // The key contains what a client wrote, in up to two bytes for each character.
  return BYTES_PER_ENTRY + 2 * name.length + bytes;
}

/** A copy of a slice: a small one would keep alive the whole block of Node's pool, or of a read, in which it lies. */
function alone(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

interface ResultBytes {
  readonly etag: string;
  readonly freshSeconds: number;
  /** Null means 304: the client already has this very response. */
  readonly bytes: Buffer | null;
  /** Null where the bytes are the request's own, so that compressing them cannot be shared. */
  readonly packed: ((encoding: Encoding) => MaybePromise<Buffer>) | null;
}

/** A result that can be named, cached and sent again unchanged. */
export class CachedResult implements ExecutionResult {
  /** Private, so that a plugin's copy of the result is one of the data alone. */
  readonly #sent: ResultBytes;
  declare readonly data?: Record<string, unknown>;

  constructor(sent: ResultBytes) {
    this.#sent = sent;
  }

  /** For plugins, which may read the data: it is parsed when one does. */
  static withData(sent: ResultBytes & { readonly bytes: Buffer }): CachedResult {
    const result = new CachedResult(sent);
    let data: unknown;
    const get = () => {
      data ??= JSON.parse(sent.bytes.toString()).data;
      return data;
    };
    // A copy by `{ ...result }` takes enumerable properties of the result itself alone.
    return Object.defineProperty(result, 'data', { enumerable: true, get });
  }

  get sent(): ResultBytes {
    return this.#sent;
  }

  /** The same result with extensions. Plugins have run by now, so it has no data to read. */
  withExtensions(extensions: Record<string, unknown>): CachedResult {
    if (this.#sent.bytes === null) return this;
    const end = Buffer.from(`,"extensions":${JSON.stringify(extensions)}}`);
    const bytes = Buffer.concat([this.#sent.bytes.subarray(0, -1), end]);
    return new CachedResult({ ...this.#sent, bytes, packed: null });
  }
}
