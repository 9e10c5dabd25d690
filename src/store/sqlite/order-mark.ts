import { closeSync, constants, openSync, readSync, statSync, writeSync } from 'node:fs';
import { MODE } from './file-changes.ts';

const DIGITS = 16;
// Two counts and a time in nanoseconds.
const BYTES = 64;
/** In the place of the second count, which then is not that of the ctime behind it. */
const NO_CHANGE = ` ${'0'.repeat(DIGITS)} `;

/**
 * A count of the file's changes, kept beside it: a file with fewer is an older copy. It is written after each commit without
 * fsync, so it may lag behind and is never ahead. Behind it the count again, since earlier versions overwrite the first
 * alone, and the ctime of the file at that commit.
 */
export function openMark(path: string) {
  const descriptor = openSync(markOf(path), constants.O_RDWR | constants.O_CREAT, MODE);
  return {
    /** Counts 0 where there is none; the ctime is null where it is not that of this count. */
    read() {
      const bytes = Buffer.alloc(BYTES);
      readSync(descriptor, bytes, 0, BYTES, 0);
      const text = bytes.toString('latin1');
      const writes = Number.parseInt(text.slice(0, DIGITS), 10) || 0;
      const [, of, changedNs] = / (\d+) (\d+)\n/.exec(text) ?? [];
      return { writes, changedNs: changedNs && Number(of) === writes ? BigInt(changedNs) : null };
    },
    write(writes: number, changedNs: bigint): void {
      const count = String(writes).padStart(DIGITS, '0');
      writeSync(descriptor, `${count} ${count} ${changedNs}\n`, 0);
    },
    close: () => closeSync(descriptor),
  };
}

export function isMarked(path: string): boolean {
  return (statSync(markOf(path), { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/**
 * Called before the file is changed without a commit of its own. Another process may begin between that change and the next
 * commit, or this one end: to it the file would be rewritten.
 */
export function forgetChange(path: string): void {
  try {
    using opened = new DisposableStack();
    writeSync(opened.adopt(openSync(markOf(path), 'r+'), closeSync), NO_CHANGE, DIGITS);
  } catch {
    // There is no mark yet, or it cannot be written.
  }
}

function markOf(path: string): string {
  return `${path}.mark`;
}
