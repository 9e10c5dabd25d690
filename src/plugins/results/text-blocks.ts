const BLOCK_BYTES = 65_536;
const encoder = new TextEncoder();
const NONE = Buffer.alloc(0);

/**
 * Encodes texts into blocks of one size. Buffers of many sizes that live as long as an answer would
 * fragment the allocator's memory, which then stays resident.
 */
export class TextBlocks {
  #block = NONE;
  #used = 0;

  /** Adds the text's bytes to the chunks. */
  append(text: string, chunks: Buffer[]): void {
    for (let rest = text; rest !== ''; ) {
      const { read, written } = encoder.encodeInto(rest, this.#block.subarray(this.#used));
      if (written > 0) chunks.push(this.#block.subarray(this.#used, this.#used + written));
      this.#used += written;
      rest = rest.slice(read);
      if (rest === '') return;
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      this.#used = 0;
    }
  }
}
