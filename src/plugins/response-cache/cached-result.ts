import type { ExecutionResult } from 'graphql';
import type { Eventually } from '../../lib/eventually.ts';
import type { Encoding } from '../../lib/pack.ts';

export interface ResultBytes {
  readonly etag: string;
  readonly freshSeconds: number;
  /** Null means 304: the client already has this very response. */
  readonly bytes: Buffer | null;
  /** Null where the bytes are the request's own, so that compressing them cannot be shared. */
  readonly packed: ((encoding: Encoding) => Eventually<Buffer>) | null;
}

/** A result that can be named, cached and sent again unchanged, as its transport sends it. */
export class CachedResult implements ExecutionResult, ResultBytes {
  readonly etag: string;
  readonly freshSeconds: number;
  readonly bytes: Buffer | null;
  readonly packed: ResultBytes['packed'];

  constructor({ etag, freshSeconds, bytes, packed }: ResultBytes) {
    this.etag = etag;
    this.freshSeconds = freshSeconds;
    this.bytes = bytes;
    this.packed = packed;
  }

  /** Parsed for whoever looks at it: transports send the bytes. */
  get data(): Record<string, unknown> | null {
    return this.bytes === null ? null : JSON.parse(this.stringify()).data;
  }

  /** Called by yoga in place of its own serialization. */
  stringify(): string {
    return this.bytes?.toString() ?? 'null';
  }

  withExtensions(extensions: object): CachedResult {
    if (this.bytes === null) return this;
    const end = Buffer.from(`,"extensions":${JSON.stringify(extensions)}}`);
    const bytes = Buffer.concat([this.bytes.subarray(0, -1), end]);
    return new CachedResult({ ...this, bytes, packed: null });
  }
}
