import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ownPackages } from '../../../test/support/own-packages.ts';
import type { PackedClient } from './packed-client.ts';

const own = join(import.meta.dirname, '..', 'bundlers');
const run = promisify(execFile);

/** A module of a bundle. */
export interface BundledModule {
  readonly path: string;
  readonly code: string;
  /** The paths of the modules that it needs. */
  readonly dependencies: readonly string[];
}

/** The folder with Metro and Jest, which only this suite needs. */
export const bundlers = (): Promise<string> => ownPackages(own);

/** Bundles a file of an app with the installed client; `<file>.bundle.js` is the bundle. */
export async function bundleByMetro(
  name: 'metro' | 'metro-oldest',
  { app }: PackedClient,
  file: string,
): Promise<readonly BundledModule[]> {
  const program = join(own, 'metro.ts');
  await run(
    process.execPath,
    [program, await bundlers(), name, app, file],
    // Babel's preset of React Native makes different code for tests.
    { cwd: app, env: { ...process.env, NODE_ENV: 'production' } },
  );
  return JSON.parse(
    readFileSync(join(app, `${file}.modules.json`), 'utf8'),
  ) as readonly BundledModule[];
}
