import { lstatSync } from 'node:fs';
import { SqliteFileError } from './sqlite-errors.ts';

/** The journal, the mark and the hold stand beside the file, and the disk is judged by its folder: a link has others. */
export function refuseLink(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new SqliteFileError('is a symbolic link: name the file that it leads to');
  }
}
