import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import { readPlainBytes } from '../../lib/read-plain-file.ts';

/** A catalog of 100,000 instruments has six. */
export const MAX_COPY_BYTES = 16 * 1024 ** 2;
export const MAX_COPIES = 100;
export const MAX_ALL_COPIES_BYTES = 64 * 1024 ** 2;

// Nobody writes for so long.
const WRITE_MS = 60_000;
const DATE_BYTES = 8;
const ENDING = '.catalog';

/**
 * Copies of catalogs in a folder beside the order file, one in each file behind the date of its end. A file is whole or not there,
 * and any may be taken away; a name of another ending is left alone.
 */
export function createCatalogFiles(folder: string, clock: Pick<Clock, 'date'>) {
  const pathOf = (key: string) => join(folder, `${key}${ENDING}`);
  const found = (path: string) => stat(path).catch(() => null);

  /** One copy is written behind the other, and none once it is closed. */
  let writing = Promise.resolve();
  let isClosed = false;

  async function write(key: string, bytes: Buffer, untilDate: number): Promise<void> {
    if (isClosed) return;
    await mkdir(folder, { mode: 0o700, recursive: true });
    const date = Buffer.alloc(DATE_BYTES);
    date.writeDoubleBE(untilDate);
    const path = `${pathOf(key)}.${randomUUID()}`;
    await writeFile(path, Buffer.concat([date, bytes]), { mode: 0o600 });
    await rename(path, pathOf(key));
    await makeRoom();
  }

  /** The newest stay. */
  async function makeRoom(): Promise<void> {
    const names = (await readdir(folder)).filter((name) => name.includes(ENDING));
    const files = await Promise.all(
      names.map(async (name) => ({ name, ...(await found(join(folder, name))) })),
    );
    let [count, bytes] = [0, 0];
    const newestFirst = files.toSorted((a, b) => (b.mtimeMs ?? 0) - (a.mtimeMs ?? 0));
    for (const { name, size = 0, mtimeMs = 0 } of newestFirst) {
      count += 1;
      bytes += size;
      // A process has ended as it wrote that.
      const isLeft = !name.endsWith(ENDING) && clock.date() - mtimeMs > WRITE_MS;
      if (isLeft || count > MAX_COPIES || bytes > MAX_ALL_COPIES_BYTES) {
        await rm(join(folder, name), { force: true });
      }
    }
  }

  return {
    maxBytes: MAX_COPY_BYTES,
    has: async (key: string) => (await found(pathOf(key))) !== null,
    async get(key: string): Promise<{ bytes: Buffer; leftMs: number } | null> {
      if ((await found(pathOf(key))) === null) return null;
      const bytes = await readPlainBytes(pathOf(key), MAX_COPY_BYTES + DATE_BYTES);
      const leftMs = bytes.readDoubleBE(0) - clock.date();
      return { bytes: bytes.subarray(DATE_BYTES), leftMs };
    },
    /** Few processes share a folder, and each puts a whole file in the place of another's. */
    mayPut: async () => true,
    put(key: string, bytes: Buffer, leftMs: number): Promise<void> {
      const untilDate = clock.date() + leftMs;
      const written = writing.then(() => write(key, bytes, untilDate));
      writing = written.catch(() => {});
      return written;
    },
    close(): Promise<void> {
      isClosed = true;
      return writing;
    },
  };
}
