import { statfsSync } from 'node:fs';

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

/** Names the network file system of a folder, as far as its type shows one; null for none. */
export function networkFileSystem(folder: string, type = statfsSync(folder).type) {
  // Some platforms return the 32 bits as a negative number.
  const magic = type >>> 0;
  const name = NETWORK.get(magic) ?? DOUBTFUL.get(magic);
  return name === undefined ? null : { name, isCertain: NETWORK.has(magic) };
}
