import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { networkFileSystem } from './network-file-system.ts';
import { SqliteFileError } from './sqlite-errors.ts';

/** The journal, the mark and the hold stand beside the file, and the disk is judged by its folder: a link has others. */
export function refuseLink(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new SqliteFileError('is a symbolic link: name the file that it leads to');
  }
}

/** Refuses a disk on which locks do not hold, for the service and for an operator on another machine alike. */
export function checkPlace(path: string, onWarn: (message: string) => void): void {
  refuseLink(path);
  const folder = dirname(path);
  const network = networkFileSystem(folder);
  if (network?.isCertain) {
    throw new SqliteFileError(`is on ${network.name}, a network: use a disk of this machine`);
  }
  if (network) onWarn(`${folder} is on ${network.name}: a network's locks cannot be relied on`);
}

/** The file that stands where the order records were moved from, and names their new place. */
export function movedSign(path: string): string {
  return `${path}.moved`;
}

/** Refuses a path that the order records were moved from: a file that would be made there lacks them. */
export function refuseMoved(path: string): void {
  const sign = movedSign(path);
  // A move that was cut off between the two has left the file in use.
  if (existsSync(path) || !existsSync(sign)) return;
  const to = readFileSync(sign, 'utf8');
  throw new SqliteFileError(`was moved to ${to}: set ORDER_STORE to that, or remove ${sign}`);
}
