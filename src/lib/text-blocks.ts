export const BLOCK_BYTES = 65_536;
const encoder = new TextEncoder();

/** The memory of one answer: buffers of many sizes that live as long would fragment the allocator's. */
export class TextBlocks {
  #block = Buffer.alloc(0);
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
