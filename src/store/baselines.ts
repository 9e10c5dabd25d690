import { randomUUID } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readPlainFile } from '../../lib/read-plain-file.ts';

/** The fields that each operation's answers had, as texts. Losing one costs no more than that it is learned anew. */
export interface Baselines {
  get(operation: string): Promise<string | null>;
  put(operation: string, text: string): Promise<void>;
}

export function createMemoryBaselines(): Baselines {
  const texts = new Map<string, string>();
  return {
    get: async (operation) => texts.get(operation) ?? null,
    async put(operation, text) {
      texts.set(operation, text);
    },
  };
}

const MAX_BYTES = 64 * 1024;

/** One file for each operation in a folder beside the order file, so that the processes which share it need no lock. */
export function createBaselineFiles(folder: string): Baselines {
  const pathOf = (operation: string) => join(folder, `${operation}.json`);
  return {
    get: (operation) =>
      readPlainFile(pathOf(operation), MAX_BYTES).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      }),
    async put(operation, text) {
      await mkdir(folder, { mode: 0o700, recursive: true });
      const path = `${pathOf(operation)}.${randomUUID()}`;
      await writeFile(path, text, { mode: 0o600 });
      await rename(path, pathOf(operation));
    },
  };
}
