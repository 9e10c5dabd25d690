import { statSync } from 'node:fs';
import { access, constants, mkdir, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { assertPlainFile } from '../../../lib/read-plain-file.ts';
import { StoreError } from '../store-error.ts';

// procfs and sysfs: reading or locking their files can wait for ever.
const OF_THE_KERNEL = new Set([0x9fa0, 0x62656572]);

/** Makes the folder of a store's file where it is missing, and refuses paths that can hold no store. */
export async function checkFilePath(path: string): Promise<void> {
  const folder = dirname(resolve(path));
  await makeFolder(folder);
  const { type } = await statfs(folder);
  if (OF_THE_KERNEL.has(type)) throw new StoreError(`${folder} belongs to the kernel`);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats !== undefined) assertPlainFile(stats);
  // Every store puts files of its own beside it.
  await access(folder, constants.W_OK | constants.X_OK);
}

/** Step by step, since Node's recursive mkdir never ends where a folder cannot hold others, as in /proc. */
async function makeFolder(path: string): Promise<void> {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return;
  if (stats !== undefined) throw new StoreError(`${path} is not a folder`);
  await makeFolder(dirname(path));
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    // Another process of this machine may have made it just now.
    if (error.code !== 'EEXIST') throw error;
  });
}
