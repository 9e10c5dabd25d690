import { fstatSync, write, writeSync } from 'node:fs';
import { type Clock, steadyClock } from './clock.ts';

/** Hands bytes to the system; `written` may be fewer than were given. */
type Write = (
  bytes: Buffer,
  done: (error: NodeJS.ErrnoException | null, written: number) => void,
) => void;

export interface BufferedOutputOptions {
  readonly write: Write;
  /** Writes what `write` has not been given yet, when no further turn of the event loop will come. */
  readonly writeLast?: (bytes: Buffer) => void;
  readonly maxBytes?: number;
  readonly retryMs?: number;
  readonly clock?: Clock;
  /** The line that says how many were dropped. */
  readonly droppedLine: (count: number) => string;
}

// At 400 bytes a line, ten seconds of a thousand requests each.
const MAX_BYTES = 4_194_304;
// A pipe takes so much at a time.
const CHUNK_BYTES = 65_536;
const SMALLEST_BYTES = 2_048;
const RETRY_MS = 100;
// A write costs as much as ten lines, since it wakes the reader.
const BATCH_MS = 20;
const STALLED_MS = 5_000;

/**
 * Writes lines in the background, in order, some milliseconds' lines at once, one write at a time. What its reader or its disk does not
 * take waits in a bounded buffer; beyond that lines are dropped and counted, and nothing else notices.
 */
export class BufferedOutput {
  readonly #options: BufferedOutputOptions;
  readonly #maxBytes: number;
  readonly #clock: Clock;
  /** Lines that no write has begun with, up to `#used`. Kept as bytes, since as texts the collector would copy them. */
  #waiting = Buffer.allocUnsafe(SMALLEST_BYTES);
  #used = 0;
  #isScheduled = false;
  /** Bytes that are being written, of which the first `#handed` are with the system. */
  #writing: Buffer | null = null;
  #handed = 0;
  /** Of both. */
  #bytes = 0;
  #progressAtMs = 0;
  #error: NodeJS.ErrnoException | null = null;
  #droppedLines = 0;
  #reportedLines = 0;
  #onEmpty: (() => void) | null = null;

  constructor(options: BufferedOutputOptions) {
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? MAX_BYTES;
    this.#clock = options.clock ?? steadyClock;
  }

  get droppedLines(): number {
    return this.#droppedLines;
  }

  write(lines: string): void {
    if (this.#droppedLines > this.#reportedLines) this.#reportDropped();
    if (!this.#keep(lines)) this.#droppedLines += countLines(lines);
    else if (this.#writing === null && !this.#isScheduled) {
      this.#isScheduled = true;
      setTimeout(this.#writeScheduled, BATCH_MS).unref();
    }
  }

  readonly #writeScheduled = (): void => {
    this.#isScheduled = false;
    this.#writeNext();
  };

  /** Why lines are late or lost, for an operator, or null. */
  degradedReason(): string | null {
    const lost = this.#droppedLines - this.#reportedLines;
    if (lost > 0) return `lines of the log are dropped: ${this.#cause()}`;
    const isStalled = this.#bytes > 0 && this.#clock.now() - this.#progressAtMs > STALLED_MS;
    return isStalled ? `the log is not taken: ${this.#cause()}` : null;
  }

  /** Resolves when every line is written, or after `ms`. */
  async drain(ms: number): Promise<void> {
    if (this.#bytes === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onEmpty = resolve;
    const timer = setTimeout(resolve, ms);
    await promise;
    clearTimeout(timer);
  }

  /** At the exit of the process. */
  writeLast(): void {
    const begun = this.#writing?.subarray(this.#handed) ?? Buffer.alloc(0);
    this.#options.writeLast?.(Buffer.concat([begun, this.#waiting.subarray(0, this.#used)]));
  }

  #keep(lines: string): boolean {
    // A character has three bytes at most; to count them costs as much as to write them.
    const most = 3 * lines.length;
    const left = this.#maxBytes - this.#bytes;
    if (most > left && Buffer.byteLength(lines) > left) return false;
    if (this.#bytes === 0) this.#progressAtMs = this.#clock.now();
    if (this.#used + most > this.#waiting.length) this.#grow(this.#used + most);
    const bytes = this.#waiting.write(lines, this.#used);
    this.#used += bytes;
    this.#bytes += bytes;
    return true;
  }

  #grow(bytes: number): void {
    const grown = Buffer.allocUnsafe(2 * bytes);
    this.#waiting.copy(grown, 0, 0, this.#used);
    this.#waiting = grown;
  }

  #writeNext(): void {
    if (this.#used === 0) {
      this.#onEmpty?.();
      return;
    }
    this.#writing = this.#waiting.subarray(0, this.#used);
    this.#waiting = Buffer.allocUnsafe(SMALLEST_BYTES);
    this.#used = 0;
    this.#writeChunk(this.#writing);
  }

  #writeChunk(bytes: Buffer): void {
    const chunk = bytes.subarray(0, CHUNK_BYTES);
    this.#handed = chunk.length;
    this.#options.write(chunk, (error, written) => this.#onWritten(bytes, error, written));
  }

  #onWritten(bytes: Buffer, error: NodeJS.ErrnoException | null, written: number): void {
    // Of a stream the first error says why, those after it that it has ended.
    this.#error = error && (this.#error ?? error);
    this.#handed = 0;
    const rest = bytes.subarray(written);
    if (written > 0) {
      this.#bytes -= written;
      this.#progressAtMs = this.#clock.now();
    }
    this.#writing = rest.length > 0 ? rest : null;
    if (error !== null) {
      // A disk may have room again, and a named pipe a reader.
      setTimeout(() => this.#writeChunk(rest), this.#options.retryMs ?? RETRY_MS).unref();
      return;
    }
    if (this.#droppedLines > this.#reportedLines) this.#reportDropped();
    if (rest.length > 0) this.#writeChunk(rest);
    else this.#writeNext();
  }

  /** In its place among the lines, as soon as there is room. */
  #reportDropped(): void {
    const line = this.#options.droppedLine(this.#droppedLines - this.#reportedLines);
    if (this.#keep(line)) this.#reportedLines = this.#droppedLines;
  }

  #cause(): string {
    return this.#error?.code ?? 'nobody reads it';
  }
}

// For the last lines of a process whose reader is slow.
const LAST_MS = 500;
const LAST_PAUSE_MS = 10;

/** The standard output of the process, which ends neither with its reader nor with its disk. */
export function standardOutput(droppedLine: (count: number) => string): BufferedOutput {
  const isPipe = isPipeOrSocket(1);
  const output = new BufferedOutput({
    write: isPipe ? writeToStream(process.stdout) : (bytes, done) => write(1, bytes, done),
    writeLast(bytes) {
      // Behind a piece that the pipe has not taken whole, anything else would break that line in two.
      if (!isPipe || process.stdout.writableLength === 0) writeWithin(LAST_MS, bytes);
    },
    droppedLine,
  });
  process.once('exit', () => output.writeLast());
  return output;
}

/**
 * A write to a full pipe occupies a thread of the pool for as long as nobody reads, and the exit of the
 * process waits for it, so pipes are written by the stream, which waits for no thread. Node makes it
 * non-blocking for pipes and sockets alone; a full disk ends it for good, so files are written directly.
 */
function writeToStream(stream: NodeJS.WriteStream): Write {
  // Each write's callback has the error as well.
  stream.on('error', () => {});
  return (bytes, done) =>
    stream.write(bytes, (error) => {
      if (error) done(error, 0);
      else done(null, bytes.length);
    });
}

function isPipeOrSocket(fd: number): boolean {
  try {
    const stats = fstatSync(fd);
    return stats.isFIFO() || stats.isSocket();
  } catch {
    return false;
  }
}

function writeWithin(ms: number, bytes: Buffer): void {
  const deadlineMs = performance.now() + ms;
  let rest = bytes;
  while (rest.length > 0 && performance.now() < deadlineMs) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LAST_PAUSE_MS);
    }
  }
}

function countLines(lines: string): number {
  let count = 0;
  for (let at = lines.indexOf('\n'); at >= 0; at = lines.indexOf('\n', at + 1)) count += 1;
  return count;
}
