import { statSync } from 'node:fs';
import { access, constants, mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { assertPlainFile } from '../../lib/read-plain-file.ts';
import { StoreError } from '../store-error.ts';

/** Refuses paths that cannot hold a store. An inspection creates no folder. */
export async function checkFilePath(
  path: string,
  { makesFolder = false, isInspection = false },
): Promise<void> {
  const folder = dirname(resolve(path));
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) {
    // The volume with the earlier orders may not be mounted, or the path may be mistyped.
    if (!makesFolder) {
      throw new StoreError(`there is no folder ${folder}: mount its volume, or create it`);
    }
    if (isInspection) return;
    await mkdir(folder, { mode: 0o700, recursive: true });
  } else if (!found.isDirectory()) throw new StoreError(`${folder} is not a folder`);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats !== undefined) assertPlainFile(stats);
  // SQLite and the mark create files in the same folder.
  await access(folder, constants.W_OK | constants.X_OK);
}
