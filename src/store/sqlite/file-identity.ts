import { statSync } from 'node:fs';

const BIG = { bigint: true } as const;
/** No file has this inode: a copy is known to be one, wherever it is put. */
export const OF_NO_FILE = '0 1';

/** Inode and birth time, as inodes are reused; where there is no birth time, Node answers 0 or the ctime. */
export function identityOf(path: string): string {
  const { ino, birthtimeNs, ctimeNs } = statSync(path, BIG);
  return `${ino} ${birthtimeNs === ctimeNs ? 0 : birthtimeNs}`;
}

/** Birth times are compared where both are known. */
export function isSameFile(one: string, other: string): boolean {
  const [inode, born = '0'] = one.split(' ');
  const [otherInode, otherBorn = '0'] = other.split(' ');
  return inode === otherInode && (born === otherBorn || born === '0' || otherBorn === '0');
}

export function inodeOf(path: string): string | null {
  return statSync(path, { ...BIG, throwIfNoEntry: false })?.ino.toString() ?? null;
}
