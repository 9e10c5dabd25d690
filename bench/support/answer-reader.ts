const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** Finds the end of each answer on a connection, without parsing the answers. */
export class AnswerReader {
  status = 0;
  #head: Buffer | null = null;
  /** The number of bytes that the body still lacks; null for a body in chunks. */
  #missing: number | null = 0;
  #inBody = false;
  /** The last bytes of a body in chunks, as many as the last chunk has. */
  #tail = Buffer.alloc(0);

  /** Returns true when the answer is complete. */
  take(chunk: Buffer): boolean {
    if (this.#inBody) return this.#body(chunk);
    const head = this.#head === null ? chunk : Buffer.concat([this.#head, chunk]);
    const end = head.indexOf(HEAD_END);
    if (end === -1) {
      this.#head = head;
      return false;
    }
    this.#head = null;
    const text = head.toString('latin1', 0, end);
    // The text begins with `HTTP/1.1 200`.
    this.status = Number(text.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
    this.#missing = length === undefined ? null : Number(length);
    this.#tail = Buffer.alloc(0);
    this.#inBody = true;
    return this.#body(head.subarray(end + HEAD_END.length));
  }

  #body(bytes: Buffer): boolean {
    if (this.#missing === null) {
      // The next answer is sent only after the next request, so the bytes of this one end with the last chunk.
      this.#tail = Buffer.concat([this.#tail, bytes]).subarray(-LAST_CHUNK.length);
      const isOver = this.#tail.equals(LAST_CHUNK);
      this.#inBody = !isOver;
      return isOver;
    }
    this.#missing -= bytes.length;
    this.#inBody = this.#missing > 0;
    return !this.#inBody;
  }
}
