import { LRUCache } from 'lru-cache';
import type { CompiledCode } from './generated-code.ts';

const MAX_FIELDS = 40_000;
// Measured, roughly.
const BYTES_PER_FIELD = 1_024;

/** All compiled code of the process, each with what is called once it is dropped. */
export class CompiledCodeCache extends LRUCache<CompiledCode, () => void> {
  constructor() {
    super({
      maxSize: MAX_FIELDS,
      sizeCalculation: (_dropped, { size }) => 1 + size,
      dispose: (dropped) => dropped(),
    });
  }

  get byteSize(): number {
    return this.calculatedSize * BYTES_PER_FIELD;
  }
}
