import { statSync } from 'node:fs';
import { access, constants, mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { assertPlainFile } from '../../lib/read-plain-file.ts';
import { StoreError } from '../store-error.ts';

/** Refuses paths that can hold no store. `made`: whether a folder that is missing is made, or may be made later. */
export async function checkFilePath(path: string, made?: 'now' | 'later'): Promise<void> {
  const folder = dirname(resolve(path));
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) {
    // It may be a volume that is not mounted, or a slip: a new file there would know of no order.
    if (made === undefined) {
      throw new StoreError(`there is no folder ${folder}: mount its volume, or make it`);
    }
    if (made === 'later') return;
    await mkdir(folder, { mode: 0o700, recursive: true });
  } else if (!found.isDirectory()) throw new StoreError(`${folder} is not a folder`);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats !== undefined) assertPlainFile(stats);
  // SQLite and the mark create files next to it.
  await access(folder, constants.W_OK | constants.X_OK);
}
