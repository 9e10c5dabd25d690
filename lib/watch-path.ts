import { watch } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from './clock.ts';

interface WatchPathOptions {
  /** A file, or a folder whose files are watched. */
  readonly path: string;
  readonly clock: Clock;
  readonly onChange: () => void;
}

// Some file systems, of networks and containers, emit no events, so the path is also polled.
const ASK_MS = 2_000;
// A tool that writes several files has finished by then.
const SETTLE_MS = 50;

/**
 * Reports each change of a file, or of a folder's files, however it is made. A caller that awaits
 * this before reading misses no change.
 */
export async function watchPath({ path, clock, onChange }: WatchPathOptions): Promise<() => void> {
  let known = await signatureOf(path);
  const closing = new AbortController();
  const { signal } = closing;
  let cancel = () => {};

  async function look(): Promise<void> {
    const now = await signatureOf(path);
    if (signal.aborted) return;
    wait(ASK_MS);
    if (now === known) return;
    known = now;
    onChange();
  }

  function wait(ms: number): void {
    cancel();
    cancel = clock.after(ms, () => void look());
  }

  for (const each of [path, dirname(path)]) {
    // Polling continues where a watcher fails.
    try {
      const watcher = watch(each, { signal, persistent: false }, () => wait(SETTLE_MS));
      watcher.on('error', () => watcher.close());
    } catch {}
  }
  wait(ASK_MS);

  return () => {
    closing.abort();
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
