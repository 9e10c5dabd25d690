import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { MODE } from './file-changes.ts';
import { refuseLink } from './file-place.ts';
import { SqliteFileError, toFileError } from './sqlite-errors.ts';

/**
 * Whether an operator holds orders back: a file beside the records, so that the word counts at once where the records
 * themselves are locked, damaged or take long to verify.
 */
export function isHeld(path: string): boolean {
  return existsSync(holdOf(path));
}

/** Throws a SqliteFileError. */
export function setHold(path: string, toHold: boolean): void {
  if (!existsSync(path)) throw new SqliteFileError('does not exist');
  refuseLink(path);
  try {
    if (toHold) writeFileSync(holdOf(path), '', { mode: MODE });
    else rmSync(holdOf(path), { force: true });
  } catch (error) {
    throw toFileError(error);
  }
}

function holdOf(path: string): string {
  return `${path}.hold`;
}
