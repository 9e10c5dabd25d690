import { access, constants, mkdir, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { assertPlainFile } from '../../../lib/read-plain-file.ts';
import { StoreError } from '../store-error.ts';

// procfs and sysfs: reading or locking their files can wait for ever.
const OF_THE_KERNEL = new Set([0x9fa0, 0x62656572]);
// Types of statfs(2) for file systems whose locks are kept on another machine, or not at all.
const NETWORK = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB 2'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x01161970, 'GFS2'],
  [0x7461636f, 'OCFS2'],
]);
/** These may be backed by a local disk as well. */
const DOUBTFUL = new Map([
  [0x65735546, 'FUSE'],
  [0x01021997, '9P'],
]);

/** Makes the folder of a store's file where it is missing, and refuses paths that can hold no store. */
export async function checkFilePath(path: string, onWarn: (message: string) => void) {
  const folder = dirname(resolve(path));
  await makeFolder(folder);
  const { type } = await statfs(folder);
  if (OF_THE_KERNEL.has(type)) throw new StoreError(`${folder} belongs to the kernel`);
  const network = networkFileSystem(type);
  if (network?.isCertain) {
    throw new StoreError(`${folder} is on ${network.name}, a network: use a disk of this machine`);
  }
  if (network) onWarn(`${folder} is on ${network.name}: a network's locks cannot be relied on`);
  const stats = await statOrNull(path);
  if (stats !== null) assertPlainFile(stats);
  // Every store puts files of its own beside it.
  await access(folder, constants.W_OK | constants.X_OK);
}

/** Names the network file system of this type, as far as it shows one; null for none. */
export function networkFileSystem(type: number) {
  // Some platforms return the 32 bits as a negative number.
  const magic = type >>> 0;
  const name = NETWORK.get(magic) ?? DOUBTFUL.get(magic);
  return name === undefined ? null : { name, isCertain: NETWORK.has(magic) };
}

/** Step by step, since Node's recursive mkdir never ends where a folder cannot hold others, as in /proc. */
async function makeFolder(path: string): Promise<void> {
  const stats = await statOrNull(path);
  if (stats?.isDirectory()) return;
  if (stats !== null) throw new StoreError(`${path} is not a folder`);
  await makeFolder(dirname(path));
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    // Another process of this machine may have made it just now.
    if (error.code !== 'EEXIST') throw error;
  });
}

async function statOrNull(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
