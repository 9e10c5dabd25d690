import { randomFillSync } from 'node:crypto';

// Short and without line breaks: the id goes into logs and headers, which it must not be able to forge.
const ACCEPTED = /^[\w.:-]{1,128}$/;

const BYTES = 12;
const BATCH_BYTES = 512 * BYTES;

/** Draws random bytes in batches; a counter would show clients how busy the server is. */
export class RequestIds {
  readonly #drawn = Buffer.alloc(BATCH_BYTES);
  #used = BATCH_BYTES;

  /** Returns the client's own id where it is acceptable, else a new one. */
  from(header: string | string[] | undefined): string {
    return typeof header === 'string' && ACCEPTED.test(header) ? header : this.#next();
  }

  #next(): string {
    if (this.#used === BATCH_BYTES) {
      randomFillSync(this.#drawn);
      this.#used = 0;
    }
    this.#used += BYTES;
    return this.#drawn.toString('base64url', this.#used - BYTES, this.#used);
  }
}
