import { closeSync, openSync, rmSync, writeSync } from 'node:fs';

/** Enough for the pages, and their copies in the journal, of the orders that are written at once. */
const ROOM = Buffer.alloc(1_048_576);

/** Whether the disk of a file has room. It is tried, since free blocks do not show a quota. */
export function hasRoom(path: string): boolean {
  const probe = `${path}.probe`;
  try {
    using opened = new DisposableStack();
    const descriptor = opened.adopt(openSync(probe, 'w', 0o600), closeSync);
    // Its name goes first, so that a process that is killed leaves nothing behind.
    rmSync(probe, { force: true });
    return writeSync(descriptor, ROOM) === ROOM.length;
  } catch {
    return false;
  }
}
