import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bareEnvironment } from '../../../test/support/bare-environment.ts';
import type { PackedClient } from './packed-client.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const own = join(import.meta.dirname, '..', 'bundlers');
const FILES = ['package.json', 'package-lock.json', '.npmrc'];
const run = promisify(execFile);

/** A module of a bundle. */
export interface BundledModule {
  readonly path: string;
  readonly code: string;
  /** The paths of the modules that it needs. */
  readonly dependencies: readonly string[];
}

/** The folder with Metro and Jest, which is filled once for each state of their lock file: no other suite needs them. */
export async function bundlers(): Promise<string> {
  const hash = createHash('sha256');
  for (const file of FILES) hash.update(readFileSync(join(own, file)));
  const folder = join(root, 'node_modules', `.bundlers-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(folder)) return folder;
  const filled = mkdtempSync(`${folder}.`);
  for (const file of FILES) cpSync(join(own, file), join(filled, file));
  await run('npm', ['ci', '--ignore-scripts', '--loglevel=error'], {
    cwd: filled,
    env: bareEnvironment(),
  });
  try {
    renameSync(filled, folder);
  } catch (error) {
    rmSync(filled, { recursive: true });
    // Another process was first.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

/** Bundles a file of the app that has installed the client; `<file>.bundle.js` is the bundle. */
export async function bundleByMetro(
  name: 'metro' | 'metro-oldest',
  { app }: PackedClient,
  file: string,
): Promise<readonly BundledModule[]> {
  const program = join(own, 'metro.ts');
  await run(
    process.execPath,
    [program, await bundlers(), name, app, file],
    // Babel's preset of React Native makes another code for tests.
    { cwd: app, env: { ...process.env, NODE_ENV: 'production' } },
  );
  return JSON.parse(
    readFileSync(join(app, `${file}.modules.json`), 'utf8'),
  ) as readonly BundledModule[];
}
