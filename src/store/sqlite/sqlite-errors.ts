import { reasonOf } from '../../lib/reason-of.ts';
import { StoreError } from '../store-error.ts';

/** A file cannot be used safely. The message continues a sentence that begins with its path. */
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
export const DAMAGED = 'is damaged: restore it, or move it away';

const PROBLEMS = new Map([
  [BUSY, 'is locked by another program: end that program'],
  [8, 'cannot be written: let this user write it and its folder'],
  [10, 'cannot be read or written: look at the disk'],
  [CORRUPT, DAMAGED],
  [13, 'cannot grow: make room on the disk'],
  [14, 'cannot be opened: let this user write it and its folder, or raise `ulimit -n`'],
  [NOT_A_DATABASE, 'is no database, or is damaged: restore it, or move it away'],
]);

export function isBusy(error: unknown): boolean {
  return (codeOf(error) & 0xff) === BUSY;
}

/** Describes the problem with the file in one sentence, with a remedy for known problems. */
export function toFileError(error: unknown): SqliteFileError {
  if (error instanceof SqliteFileError) return error;
  const code = codeOf(error);
  const primary = code & 0xff;
  const known = code === READONLY_MOVED ? MOVED : PROBLEMS.get(primary);
  const isDamage = primary === CORRUPT || primary === NOT_A_DATABASE;
  const message = known ?? `cannot be used: ${reasonOf(error)}`;
  return new SqliteFileError(message, { cause: error, isDamage });
}

/** SQLite's code of an error; 0 for any other error. */
function codeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0;
}
