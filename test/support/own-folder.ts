import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startedForEach } from './started.ts';

/** A folder that is removed at the end of its scope. */
export const temporaryFolder = () => mkdtempDisposable(join(tmpdir(), 'trading-graph-'));

/** An empty folder for each test, removed afterwards. */
export function ownFolder(): { readonly path: string } {
  return startedForEach(temporaryFolder);
}
