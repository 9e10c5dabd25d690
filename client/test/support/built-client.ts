import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from './run-tool.ts';

const root = join(import.meta.dirname, '..', '..', '..');

/** The folder of the package as it is built, with `dist` and a folder for each entry; it is made once for each state of the sources, however many files need it. */
export async function builtClient(): Promise<string> {
  const folder = join(root, 'node_modules', `.client-${digestOfSources()}`);
  if (existsSync(folder)) return folder;
  const own = mkdtempSync(join(root, 'node_modules', '.client-'));
  await runTool('../client/build.mjs', [own, join(root, 'node_modules/typescript/bin/tsc')]);
  try {
    renameSync(own, folder);
  } catch (error) {
    rmSync(own, { recursive: true });
    // Another process was first.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

function digestOfSources(): string {
  const hash = createHash('sha256');
  const files = [
    ...['client/tsconfig.json', 'client/build.mjs', 'client/package.json'],
    ...globSync('client/src/**/*.ts', { cwd: root }).sort(),
  ];
  for (const file of files) hash.update(file).update(readFileSync(join(root, file)));
  return hash.digest('hex').slice(0, 16);
}
