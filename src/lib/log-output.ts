import { once } from 'node:events';
import sonicBoom, { type SonicBoom } from 'sonic-boom';
import { steadyClock, within } from './clock.ts';

// Room for the lines of ten seconds with a thousand requests per second, at 400 bytes a line.
const MAX_BYTES = 4_194_304;
// Lines are written together: one write costs as much as ten lines, because it wakes the reader.
const BATCH_MS = 20;
const RETRY_MS = 100;

/** Writes lines in the background, in order. Unread lines wait in a bounded buffer; further lines are dropped. */
export class LogOutput {
  readonly #boom: SonicBoom;
  /** Lines that were not passed to the writer yet. */
  #batch = '';
  #droppedLines = 0;

  /** `fd`: a file, or a non-blocking pipe. */
  constructor(fd: number, maxBytes = MAX_BYTES) {
    this.#boom = new sonicBoom.SonicBoom({ fd, maxLength: maxBytes });
    this.#boom.on('drop', (lines: string) => {
      this.#droppedLines += lines.split('\n').length - 1;
    });
    // The lines are kept: a full disk may get room again, and a named pipe a reader.
    this.#boom.on('error', () => {
      setTimeout(() => this.#boom.write(''), RETRY_MS).unref();
    });
  }

  get droppedLines(): number {
    return this.#droppedLines;
  }

  write(lines: string): void {
    if (this.#batch === '') setTimeout(() => this.#writeBatch(), BATCH_MS);
    this.#batch += lines;
  }

  /** Resolves when every line is written, when a write fails, or after `ms`. */
  async drain(ms: number): Promise<void> {
    const drained = once(this.#boom, 'drain').catch(() => {});
    this.#writeBatch();
    await within(steadyClock, ms, drained);
  }

  #writeBatch(): void {
    this.#boom.write(this.#batch);
    this.#batch = '';
  }
}

/** The standard output of the process, which survives the loss of its reader and a full disk. */
export function standardOutput(): LogOutput {
  // Opening the stream makes Node set a pipe to non-blocking. A write to a full blocking pipe would occupy a thread of the
  // pool, and the exit of the process would wait for the write.
  process.stdout.on('error', () => {});
  return new LogOutput(1);
}
