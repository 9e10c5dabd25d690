import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';

const DIGITS = 16;

/**
 * A count of another file's commits, kept beside it: a file with fewer commits is an older copy.
 * The mark is written after each commit without fsync, so it may lag behind and is never ahead.
 */
export class HighWaterMark {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  }

  /** Returns 0 where there is none. */
  read(): number {
    const bytes = Buffer.alloc(DIGITS);
    readSync(this.#file, bytes, 0, DIGITS, 0);
    return Number.parseInt(bytes.toString('latin1'), 10) || 0;
  }

  write(count: number): void {
    try {
      writeSync(this.#file, String(count).padStart(DIGITS, '0'), 0);
    } catch {
      // The commit itself is durable, and a mark that lags behind only detects less.
    }
  }

  close(): void {
    closeSync(this.#file);
  }
}
