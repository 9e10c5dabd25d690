import { LRUCache } from 'lru-cache';

const MAX_BYTES = 16 * 1024 * 1024;
// The measured overhead of an entry, so that a flood of tiny texts counts at its true size.
const BYTES_PER_TEXT = 150;

/** Automatic persisted queries: texts that clients have registered under their hashes. */
export class PersistedTexts {
  readonly #texts = new LRUCache<string, string>({
    maxSize: MAX_BYTES,
    sizeCalculation: (text, id) => BYTES_PER_TEXT + 2 * text.length + id.length,
  });

  get byteSize(): number {
    return this.#texts.calculatedSize;
  }

  get(id: string): string | undefined {
    return this.#texts.get(id);
  }

  register(id: string, text: string): void {
    if (!this.#texts.has(id)) this.#texts.set(id, text);
  }
}
