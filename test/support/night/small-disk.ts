import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BYTES = 8 * 1024 * 1024;

/** A file system of its own, which only root may mount. */
export async function mountSmallDisk() {
  const folder = await mkdtemp(join(tmpdir(), 'trading-graph-disk-'));
  run('mount', '-t', 'tmpfs', '-o', `size=${BYTES}`, 'tmpfs', folder);
  const ballast = join(folder, 'ballast');
  return {
    folder,
    /** But for so many bytes. */
    async fill(leftBytes = 0) {
      try {
        await writeFile(ballast, Buffer.alloc(BYTES));
      } catch (error) {
        // What fits is written before the failure.
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
      if (leftBytes > 0) await truncate(ballast, (await stat(ballast)).size - leftBytes);
    },
    free: () => rm(ballast),
    async [Symbol.asyncDispose]() {
      run('umount', folder);
      await rm(folder, { recursive: true });
    },
  };
}

function run(command: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command}: ${stderr}`);
}
