import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';

/** The state of an order file at its newest commit. */
export interface Mark {
  readonly writes: number;
  readonly inode: string;
}

/** One system call writes the whole mark, so that a killed process leaves no partial mark. */
const BYTES = 64;
const UNREADABLE: Mark = { writes: 0, inode: '' };

/**
 * The mark of an order file: its count of writes and its inode. The mark is written after each commit without fsync, so it
 * may lag behind the file but is never ahead of it. A file with fewer writes than its mark is an older copy.
 */
export class OrderMark {
  readonly #descriptor: number;

  constructor(path: string) {
    this.#descriptor = openSync(`${path}.mark`, constants.O_RDWR | constants.O_CREAT, 0o600);
  }

  read(): Mark | null {
    const bytes = Buffer.alloc(BYTES);
    const length = readSync(this.#descriptor, bytes, 0, BYTES, 0);
    if (length === 0) return null;
    const [, writes, inode] = /^(\d{1,16}) (\d+) *\n$/.exec(bytes.toString('latin1')) ?? [];
    return writes && inode ? { writes: Number(writes), inode } : UNREADABLE;
  }

  /** Processes may write their marks out of order, so the larger count is kept. */
  write({ writes, inode }: Mark): void {
    const present = this.read();
    if (present !== null && present.writes >= writes) return;
    writeSync(this.#descriptor, `${`${writes} ${inode}`.padEnd(BYTES - 1)}\n`, 0);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}
