import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** Builds the program as the Dockerfile does it, in a folder of its own; answers the script to run. */
export function buildBundle(folder: string): string {
  const target = join(folder, 'app', 'dist');
  const args = [join(root, 'image', 'bundle.ts'), root, target];
  const { status } = spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error('the bundle was not built');
  return join(target, 'main.js');
}
