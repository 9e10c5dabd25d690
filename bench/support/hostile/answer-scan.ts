const KEY_END = Buffer.from('":');
const QUOTE = KEY_END[0] as number;
const COLON = KEY_END[1] as number;
const KEPT_BYTES = 4_096;

/** Counts an answer while it is received, and keeps its two ends, where errors are. */
export class AnswerScan {
  bytes = 0;
  fields = 0;
  #head = Buffer.alloc(0);
  #tail = Buffer.alloc(0);

  take(chunk: Buffer): void {
    this.bytes += chunk.length;
    // A key whose end the chunks divide.
    if (this.#tail.at(-1) === QUOTE && chunk[0] === COLON) this.fields += 1;
    for (let at = chunk.indexOf(KEY_END); at !== -1; at = chunk.indexOf(KEY_END, at + 2)) {
      this.fields += 1;
    }
    if (this.#head.length < KEPT_BYTES) {
      const missing = KEPT_BYTES - this.#head.length;
      this.#head = Buffer.concat([this.#head, chunk.subarray(0, missing)]);
    }
    this.#tail =
      chunk.length >= KEPT_BYTES
        ? Buffer.from(chunk.subarray(-KEPT_BYTES))
        : Buffer.concat([this.#tail, chunk]).subarray(-KEPT_BYTES);
  }

  /** The codes of its errors, each once. */
  get codes(): string[] {
    const text = this.#ends();
    return [...new Set([...text.matchAll(/"code":"([A-Z_]+)"/g)].map(([, code = '']) => code))];
  }

  #ends(): string {
    return this.#head.toString('latin1') + this.#tail.toString('latin1');
  }
}
