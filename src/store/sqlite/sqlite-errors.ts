import { reasonOf } from '../../lib/reason-of.ts';
import { StoreError } from '../store-error.ts';

/** A file cannot be used safely. The message continues a sentence that begins with the file's path. */
export class SqliteFileError extends StoreError {
  override readonly name = 'SqliteFileError';
  /** True if the content is damaged, which is permanent. */
  readonly isDamage: boolean;

  constructor(message: string, { isDamage = false, ...options }: Options = {}) {
    super(message, options);
    this.isDamage = isDamage;
  }
}

type Options = ErrorOptions & { readonly isDamage?: boolean };

const BUSY = 5;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;
const READONLY_MOVED = 1032;
export const MOVED = 'was removed or replaced: put it back, or restart';
export const DAMAGED = 'is not a database, or is damaged: restore it, or move it away';

export function toFileError(error: unknown): SqliteFileError {
  if (error instanceof SqliteFileError) return error;
  const code = codeOf(error);
  if (code === READONLY_MOVED) return new SqliteFileError(MOVED, { cause: error });
  const isDamage = [CORRUPT, NOT_A_DATABASE].includes(code & 0xff);
  const message = isDamage ? DAMAGED : `cannot be used: ${reasonOf(error)}`;
  return new SqliteFileError(message, { cause: error, isDamage });
}

/** SQLite's extended code of an error, whose low byte is the primary code; 0 for any other error. */
function codeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0;
}

export const START_PATIENCE_MS = 10_000;
const SLEEPER = new Int32Array(new SharedArrayBuffer(4));

/** Retries the task while another process holds the lock. It blocks its thread. */
export function retryWhileLocked<T>(patienceMs: number, task: () => T): T {
  const giveUpAtMs = performance.now() + patienceMs;
  for (;;) {
    try {
      return task();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= giveUpAtMs) throw error;
      // Jitter keeps waiting processes from retrying in step.
      Atomics.wait(SLEEPER, 0, 0, 0.3 + 2 * Math.random());
    }
  }
}

function isBusy(error: unknown): boolean {
  return (codeOf(error) & 0xff) === BUSY;
}
