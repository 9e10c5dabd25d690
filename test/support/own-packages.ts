import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { bareEnvironment } from './bare-environment.ts';

const modules = join(import.meta.dirname, '..', '..', 'node_modules');
const FILES = ['package.json', 'package-lock.json', '.npmrc'];
const run = promisify(execFile);

/**
 * A folder with the packages of a lock file that one suite needs, filled once for each state of that file. It is not below
 * `test/`: tools that look for tests or sources there would read the packages as well.
 */
export async function ownPackages(lockedIn: string): Promise<string> {
  const hash = createHash('sha256');
  for (const file of FILES) hash.update(readFileSync(join(lockedIn, file)));
  const folder = join(modules, `.${basename(lockedIn)}-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(folder)) return folder;
  const filled = mkdtempSync(`${folder}.`);
  for (const file of FILES) cpSync(join(lockedIn, file), join(filled, file));
  try {
    await run('npm', ['ci', '--ignore-scripts', '--loglevel=error'], {
      cwd: filled,
      env: bareEnvironment(),
    });
    renameSync(filled, folder);
  } catch (error) {
    rmSync(filled, { recursive: true });
    // The folder exists if another process was first, and then it is used.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
