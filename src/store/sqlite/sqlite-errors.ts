import { StoreError } from '../store-error.ts';

/** A file cannot be used safely; the message continues a sentence that begins with its path. */
export class SqliteFileError extends StoreError {
  override readonly name = 'SqliteFileError';
  /** True where the content is damaged, which does not pass by itself. */
  readonly isDamage: boolean;

  constructor(message: string, { isDamage = false, ...options }: Options = {}) {
    super(message, options);
    this.isDamage = isDamage;
  }
}

type Options = ErrorOptions & { readonly isDamage?: boolean };

const BUSY = 5;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;
const READONLY_MOVED = 1032;
export const MOVED = 'was removed or replaced: put it back, or restart';
export const DAMAGED = 'is damaged: restore it, or move it away';

const PROBLEMS = new Map([
  [BUSY, 'is locked by another program: end that program'],
  [8, 'cannot be written: let this user write it and its folder'],
  [10, 'cannot be read or written: look at the disk'],
  [CORRUPT, DAMAGED],
  [FULL, 'cannot grow: make room on the disk'],
  [CANNOT_OPEN, 'cannot be opened: let this user write it and its folder, or raise `ulimit -n`'],
  [NOT_A_DATABASE, 'is no database, or is damaged: restore it, or move it away'],
]);

/** Maps Node's file errors to SQLite's codes. */
const CODES_OF_NODE = new Map([
  ...(['EACCES', 'EPERM', 'EROFS'] as const).map((code) => [code, 8] as const),
  ...(['ENOSPC', 'EDQUOT'] as const).map((code) => [code, FULL] as const),
  ['EIO', 10],
  ['EMFILE', CANNOT_OPEN],
]);

export function isBusy(error: unknown): boolean {
  return (codeOf(error) & 0xff) === BUSY;
}

/** Describes the problem with the file, and its remedy, in one sentence. */
export function toFileError(error: unknown): SqliteFileError {
  if (error instanceof SqliteFileError) return error;
  const code = codeOf(error);
  const primary = code & 0xff;
  const known = code === READONLY_MOVED ? MOVED : PROBLEMS.get(primary);
  const message = known ?? `cannot be used: ${error instanceof Error ? error.message : error}`;
  const isDamage = primary === CORRUPT || primary === NOT_A_DATABASE;
  return new SqliteFileError(message, { cause: error, isDamage });
}

function codeOf(error: unknown): number {
  if (!(error instanceof Error)) return 0;
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode;
  return 'code' in error ? (CODES_OF_NODE.get(String(error.code)) ?? 0) : 0;
}
