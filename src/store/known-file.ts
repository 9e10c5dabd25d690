import { randomUUID } from 'node:crypto';
import { appendFile, readFile, rename, stat, writeFile } from 'node:fs/promises';
import type { Clock } from '../../lib/clock.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import type { SharedKeys } from '../../lib/limits/known-keys.ts';
import { reasonOf } from '../../lib/reason-of.ts';

interface KnownFileOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly onWarn: (message: string) => void;
}

const WRITE_MS = 1_000;
/** Another process that writes the file anew may lose a line, so a key is erased once more after this time. */
const AGAIN_MS = 30_000;
/** The file keeps no more keys of each kind, and the newest of them stay. */
const MAX_KEYS = 100_000;
const MAX_LINES = 4 * MAX_KEYS;
/** While a disk hangs no more lines wait in memory. */
const MAX_WAITING = 10_000;
const MAX_BYTES = 64 * 1024 ** 2;

/** The keys of each kind, each with its end: those that were added last come last. */
type Kinds = Map<string, Map<string, number>>;

/**
 * Keeps known keys over a restart where there is no Redis: hashes alone, in a file of lines that is appended to, so that the processes
 * which share it need no lock. What is lost of it costs a trial, never an access, so nothing waits for the disk.
 */
export async function openKnownFile({ path, clock, onWarn }: KnownFileOptions) {
  const kinds = await readKinds(path, clock.date()).catch((error: unknown) => {
    onWarn(`${path} cannot be read, so all tokens are new: ${reasonOf(error)}`);
    return new Map() as Kinds;
  });
  let lines = Infinity;
  let waiting: string[] = [];
  let hasFailed = false;
  const erased = new Set<string>();
  let writing = Promise.resolve();

  function append(line: string): void {
    if (waiting.length >= MAX_WAITING) return;
    waiting.push(line);
    if (waiting.length === 1) clock.after(WRITE_MS, () => fireAndForget('known keys', write()));
  }

  function write(): Promise<void> {
    writing = writing.then(async () => {
      const text = waiting.join('');
      lines += waiting.length;
      waiting = [];
      try {
        if (text !== '') await appendFile(path, text, { mode: 0o600 });
        if (lines > MAX_LINES) lines = await compact(path, clock.date());
      } catch (error) {
        if (!hasFailed) onWarn(`${path} cannot be written: ${reasonOf(error)}`);
        hasFailed = true;
      }
    });
    return writing;
  }

  return {
    keys: (kind: string): SharedKeys => ({
      known: kinds.get(kind) ?? [],
      add(key, untilMs) {
        erased.delete(`${kind} ${key}`);
        append(`${kind} ${key} ${Math.ceil(untilMs)}\n`);
      },
      delete(key, wasHere) {
        if (!wasHere) return;
        const name = `${kind} ${key}`;
        erased.add(name);
        append(`${name} 0\n`);
        clock.after(AGAIN_MS, () => {
          if (erased.delete(name)) append(`${name} 0\n`);
        });
      },
      has: async () => false,
    }),
    close: write,
  };
}

async function readKinds(path: string, date: number): Promise<Kinds> {
  const kinds: Kinds = new Map();
  const size = await stat(path).then(
    (stats) => stats.size,
    () => 0,
  );
  const text = size > 0 && size <= MAX_BYTES ? await readFile(path, 'utf8') : '';
  for (const line of text.split('\n')) {
    const [kind = '', key = '', end] = line.split(' ');
    const untilMs = Number(end);
    const keys = kinds.get(kind) ?? new Map<string, number>();
    // A key that is added again is among the newest.
    keys.delete(key);
    if (untilMs > date) kinds.set(kind, keys.set(key, untilMs));
  }
  for (const keys of kinds.values()) {
    for (const key of keys.keys()) {
      if (keys.size <= MAX_KEYS) break;
      keys.delete(key);
    }
  }
  return kinds;
}

/** Writes anew what still counts, and returns how many lines that is. */
async function compact(path: string, date: number): Promise<number> {
  const kinds = await readKinds(path, date);
  const lines = [...kinds].flatMap(([kind, keys]) =>
    [...keys].map(([key, untilMs]) => `${kind} ${key} ${untilMs}\n`),
  );
  // Processes in containers of their own may have one and the same pid.
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, lines.join(''), { mode: 0o600 });
  await rename(draft, path);
  return lines.length;
}
