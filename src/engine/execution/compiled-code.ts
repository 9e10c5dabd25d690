import { LRUCache } from 'lru-cache';
import type { CompiledCode, Flags } from './generated-code.ts';

/** Null where a flag is not a boolean, which is an error of the request. */
export function readFlags(
  names: readonly string[],
  variables: Readonly<Record<string, unknown>>,
): Flags | null {
  const flags = new Map<string, boolean>();
  for (const name of names) {
    const value = variables[name];
    if (typeof value !== 'boolean') return null;
    flags.set(name, value);
  }
  return flags;
}

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
