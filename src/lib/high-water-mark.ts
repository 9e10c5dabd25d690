import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';

const DIGITS = 16;

/**
 * How far another file has come, kept beside it: a file that has come less far is an older copy.
 * Written after each commit and never synced, so it may lag behind, and is never ahead.
 */
export class HighWaterMark {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  }

  /** 0 where there is none. */
  read(): number {
    const bytes = Buffer.alloc(DIGITS);
    readSync(this.#file, bytes, 0, DIGITS, 0);
    return Number.parseInt(bytes.toString('latin1'), 10) || 0;
  }

  write(count: number): void {
    try {
      writeSync(this.#file, String(count).padStart(DIGITS, '0'), 0);
    } catch {
      // What it marks is committed already, and a mark that lags behind only tells less.
    }
  }

  close(): void {
    closeSync(this.#file);
  }
}
