import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../lib/clock.ts';

interface WatchPathOptions {
  /** A file, or a folder whose files are watched. */
  readonly path: string;
  readonly clock: Clock;
  readonly onChange: () => void;
}

const ASK_MS = 1_000;

/**
 * Reports each change of a file, or of a folder's files, however it is made: some file systems, of networks and
 * containers, emit no events, so the path is asked. A caller that awaits this before reading misses no change.
 */
export async function watchPath({ path, clock, onChange }: WatchPathOptions): Promise<() => void> {
  let known = await signatureOf(path);
  let isClosed = false;
  let cancel = clock.after(ASK_MS, look);

  async function look(): Promise<void> {
    const now = await signatureOf(path);
    if (isClosed) return;
    cancel = clock.after(ASK_MS, look);
    if (now === known) return;
    known = now;
    onChange();
  }

  return () => {
    isClosed = true;
    cancel();
  };
}

async function signatureOf(path: string): Promise<string> {
  try {
    const names = (await stat(path)).isDirectory() ? (await readdir(path)).sort() : [''];
    const files = await Promise.all(
      names.map(async (name) => {
        const { mtimeMs, size, ino } = await stat(join(path, name));
        return `${name} ${mtimeMs} ${size} ${ino}`;
      }),
    );
    return files.join('\n');
  } catch (error) {
    return `unreadable: ${(error as NodeJS.ErrnoException).code}`;
  }
}
