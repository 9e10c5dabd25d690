/// <reference types="node" />
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClientStorage } from '../storage.ts';
import { KeyQueue } from './key-queue.ts';

const TEXT_FILE = /^[\da-f]{64}$/;
const UNFINISHED_FILE = /^[\da-f]{64}\.[\da-f-]{36}\.tmp$/;
const ABANDONED_AFTER_MS = 86_400_000;
const READ_BYTES = 65_536;

/**
 * Keeps each text in a file of the folder, for Node. A file is replaced as a whole, so that after a crash there is the
 * text from before or the one from after. Processes may share the folder. Throws a TypeError where it is no path.
 */
export function files(folder: string): ClientStorage {
  if (typeof folder !== 'string' || folder === '') {
    throw new TypeError("files(folder): the folder must be a path, as in files('./data').");
  }
  const queue = new KeyQueue();
  let preparing: Promise<void> | null = null;
  const prepare = () => {
    preparing ??= prepareFolder(folder).catch((error) => {
      preparing = null;
      throw error;
    });
    return preparing;
  };
  const pathOf = (key: string) => join(folder, nameOf(key));
  return {
    async get(key) {
      await prepare();
      return queue.run(key, () => readText(pathOf(key), key));
    },
    async set(key, text) {
      await prepare();
      return queue.run(key, () =>
        replaceFile(folder, nameOf(key), `${JSON.stringify(key)}\n${text}`),
      );
    },
    async delete(key) {
      await prepare();
      return queue.run(key, async () => {
        await rm(pathOf(key), { force: true });
        await syncFolder(folder);
      });
    },
    async keys(prefix) {
      await prepare();
      const names = (await readdir(folder)).filter((name) => TEXT_FILE.test(name));
      const keys = await Promise.all(names.map((name) => readKey(join(folder, name))));
      return keys.filter((key) => key !== null).filter((key) => key.startsWith(prefix));
    },
  };
}

/** A hash, because a key may be longer than file names may be, and differ from another in case alone. */
function nameOf(key: string): string {
  // The key is hashed as UTF-16, in which no two keys are the same bytes.
  return createHash('sha256').update(Buffer.from(key, 'utf16le')).digest('hex');
}

async function prepareFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of await readdir(folder)) {
    if (!UNFINISHED_FILE.test(name)) continue;
    const path = join(folder, name);
    // Another process may be writing it, or have finished meanwhile.
    const known = await stat(path).catch(() => null);
    if (known !== null && Date.now() - known.mtimeMs > ABANDONED_AFTER_MS) {
      await rm(path, { force: true });
    }
  }
}

async function replaceFile(folder: string, name: string, content: string): Promise<void> {
  const unfinished = join(folder, `${name}.${randomUUID()}.tmp`);
  try {
    const file = await open(unfinished, 'wx', 0o600);
    try {
      await file.writeFile(content, 'utf8');
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, join(folder, name));
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

/** Flushes the folder: without it a rename may be lost when the power fails. */
async function syncFolder(folder: string): Promise<void> {
  // Windows has no such call for folders.
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function readText(path: string, key: string): Promise<string | null> {
  const file = await openExisting(path);
  if (file === null) return null;
  try {
    const content = await file.readFile('utf8');
    const header = `${JSON.stringify(key)}\n`;
    if (!content.startsWith(header)) throw new Error(`${path} is damaged.`);
    return content.slice(header.length);
  } finally {
    await file.close();
  }
}

/** The key in the first line; null where the file is gone or damaged. */
async function readKey(path: string): Promise<string | null> {
  const file = await openExisting(path);
  if (file === null) return null;
  try {
    const parts: Buffer[] = [];
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES);
      const end = buffer.subarray(0, bytesRead).indexOf('\n');
      parts.push(buffer.subarray(0, end < 0 ? bytesRead : end));
      if (end >= 0) break;
      if (bytesRead === 0) return null;
    }
    const key: unknown = JSON.parse(String(Buffer.concat(parts)));
    return typeof key === 'string' ? key : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  } finally {
    await file.close();
  }
}

async function openExisting(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
