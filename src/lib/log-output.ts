import { fstatSync, writeSync } from 'node:fs';
import sonicBoom, { type SonicBoom } from 'sonic-boom';
import { steadyClock, within } from './clock.ts';

interface LogOutputOptions {
  /** A file, or a non-blocking pipe. */
  readonly fd: number;
  readonly maxBytes?: number;
  /** The line that reports how many lines were dropped. */
  readonly droppedLine: (count: number) => string;
}

// Ten seconds of a thousand requests each, at 400 bytes a line.
const MAX_BYTES = 4_194_304;
// A write costs as much as ten lines, because it wakes the reader.
const BATCH_MS = 20;
const RETRY_MS = 100;
// For the last lines of a process with a slow reader.
const LAST_MS = 500;
const LAST_PAUSE_MS = 10;

/** Writes lines in the background, in order. Unread lines wait in a bounded buffer; further lines are dropped. */
export class LogOutput {
  readonly #fd: number;
  readonly #boom: SonicBoom;
  readonly #droppedLine: (count: number) => string;
  /** Lines that were not passed to the writer yet. */
  #batch = '';
  /** Bytes that the writer has received but not written. */
  #unwrittenBytes = 0;
  #droppedLines = 0;
  #reportedLines = 0;
  #onEmpty: (() => void) | null = null;

  constructor({ fd, maxBytes = MAX_BYTES, droppedLine }: LogOutputOptions) {
    this.#fd = fd;
    this.#droppedLine = droppedLine;
    this.#boom = new sonicBoom.SonicBoom({ fd, maxLength: maxBytes });
    this.#boom.on('write', (bytes: number) => {
      this.#unwrittenBytes -= bytes;
    });
    this.#boom.on('drop', (lines: string) => {
      this.#unwrittenBytes -= Buffer.byteLength(lines);
      this.#droppedLines += lines.split('\n').length - 1;
    });
    // The lines are kept: a full disk may get room again, and a named pipe a reader.
    this.#boom.on('error', () => {
      setTimeout(() => this.#hand(''), RETRY_MS).unref();
    });
    this.#boom.on('drain', () => this.#drained());
  }

  get droppedLines(): number {
    return this.#droppedLines;
  }

  write(lines: string): void {
    if (this.#batch === '') setTimeout(() => this.#handBatch(), BATCH_MS);
    this.#batch += lines;
  }

  /** Resolves when every line is written, or after `ms`. */
  async drain(ms: number): Promise<void> {
    this.#handBatch();
    if (this.#unwrittenBytes === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onEmpty = resolve;
    await within(steadyClock, ms, promise);
  }

  /** Writes the last lines when the process exits. It writes nothing if the reader has only a part of an earlier line. */
  writeLast(): void {
    if (this.#unwrittenBytes === 0) writeWithin(LAST_MS, this.#fd, Buffer.from(this.#batch));
  }

  #handBatch(): void {
    const lines = this.#batch;
    this.#batch = '';
    if (lines !== '') this.#hand(lines);
  }

  #hand(lines: string): void {
    this.#unwrittenBytes += Buffer.byteLength(lines);
    this.#boom.write(lines);
  }

  #drained(): void {
    const lost = this.#droppedLines - this.#reportedLines;
    this.#reportedLines += lost;
    if (lost > 0) this.#hand(this.#droppedLine(lost));
    else this.#onEmpty?.();
  }
}

/** The standard output of the process, which survives the loss of its reader and a full disk. */
export function standardOutput(droppedLine: (count: number) => string): LogOutput {
  // Opening the stream makes Node set a pipe to non-blocking. Otherwise a write to a full pipe would occupy a thread of the
  // pool, and the exit of the process would wait for it.
  if (isPipeOrSocket(1)) process.stdout.on('error', () => {});
  const output = new LogOutput({ fd: 1, droppedLine });
  process.once('exit', () => output.writeLast());
  return output;
}

function isPipeOrSocket(fd: number): boolean {
  try {
    const stats = fstatSync(fd);
    return stats.isFIFO() || stats.isSocket();
  } catch {
    return false;
  }
}

function writeWithin(ms: number, fd: number, bytes: Buffer): void {
  const deadlineMs = performance.now() + ms;
  let rest = bytes;
  while (rest.length > 0 && performance.now() < deadlineMs) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LAST_PAUSE_MS);
    }
  }
}
