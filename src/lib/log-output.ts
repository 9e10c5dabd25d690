import { fstatSync, writeSync } from 'node:fs';
import sonicBoom from 'sonic-boom';
import { steadyClock, within } from './clock.ts';

interface LogOutputOptions {
  /** A file, or a pipe that does not block. */
  readonly fd: number;
  readonly maxBytes?: number;
  /** The line that says how many were dropped. */
  readonly droppedLine: (count: number) => string;
}

// Ten seconds of a thousand requests each, at 400 bytes a line.
const MAX_BYTES = 4_194_304;
// A write costs as much as ten lines, since it wakes the reader.
const BATCH_MS = 20;
const RETRY_MS = 100;
// For the last lines of a process whose reader is slow.
const LAST_MS = 500;
const LAST_PAUSE_MS = 10;

export type LogOutput = ReturnType<typeof createLogOutput>;

/** Writes lines in the background, in order; what its reader does not take waits in a bounded buffer, and beyond it is dropped. */
export function createLogOutput({ fd, maxBytes = MAX_BYTES, droppedLine }: LogOutputOptions) {
  /** Lines that are not handed on yet. */
  let batch = '';
  /** Bytes that are handed on and not written. */
  let unwritten = 0;
  let droppedLines = 0;
  let reportedLines = 0;
  let onEmpty: (() => void) | null = null;
  const handBatch = (): void => {
    const lines = batch;
    batch = '';
    if (lines !== '') hand(lines);
  };
  const boom = new sonicBoom.SonicBoom({ fd, maxLength: maxBytes });
  boom.on('write', (bytes: number) => {
    unwritten -= bytes;
  });
  boom.on('drop', (lines: string) => {
    unwritten -= Buffer.byteLength(lines);
    droppedLines += lines.split('\n').length - 1;
  });
  // The lines are kept: a disk may have room again, and a named pipe a reader.
  boom.on('error', () => {
    setTimeout(() => hand(''), RETRY_MS).unref();
  });
  boom.on('drain', () => {
    const lost = droppedLines - reportedLines;
    reportedLines += lost;
    if (lost > 0) hand(droppedLine(lost));
    else onEmpty?.();
  });

  function hand(lines: string): void {
    unwritten += Buffer.byteLength(lines);
    boom.write(lines);
  }

  return {
    get droppedLines(): number {
      return droppedLines;
    },
    write(lines: string): void {
      if (batch === '') setTimeout(handBatch, BATCH_MS);
      batch += lines;
    },
    /** Resolves when every line is written, or after `ms`. */
    async drain(ms: number): Promise<void> {
      handBatch();
      if (unwritten === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      onEmpty = resolve;
      await within(steadyClock, ms, promise);
    },
    /** Called at the exit of the process. A line that the reader has taken in part must not be broken by another. */
    writeLast(): void {
      if (unwritten === 0) writeWithin(LAST_MS, fd, Buffer.from(batch));
    },
  };
}

/** The standard output of the process, which ends neither with its reader nor with its disk. */
export function standardOutput(droppedLine: (count: number) => string): LogOutput {
  // Node makes a pipe non-blocking where it opens the stream: a write to a full one would occupy a thread of the pool,
  // for whose end the exit of the process waits.
  if (isPipeOrSocket(1)) process.stdout.on('error', () => {});
  const output = createLogOutput({ fd: 1, droppedLine });
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
