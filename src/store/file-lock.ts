import { DatabaseSync } from 'node:sqlite';

const SQLITE_BUSY = 5;

export class FileLockedError extends Error {
  override readonly name = 'FileLockedError';
}

/**
 * Takes a lock that the kernel holds for this process; the answer gives it back. SQLite's lock on an
 * empty database is the one such lock that Node offers: it ends with the process however that dies,
 * so there is no stale lock, no pid to misread, and it also holds between containers on one volume.
 */
export function lockFile(path: string): () => void {
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    // In memory, or SQLite would put a rollback file beside the lock.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (cause) {
    lock.close();
    if (isBusy(cause)) throw new FileLockedError(`another process holds ${path}`, { cause });
    throw cause;
  }
  return () => lock.close();
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}
