import { LRUCache } from 'lru-cache';
import type { CompiledCode } from './generated-code.ts';

const MAX_FIELDS = 40_000;
// A rough measurement.
const BYTES_PER_FIELD = 1_024;

/** All compiled code of the process, each with the callback that reports its removal. */
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
