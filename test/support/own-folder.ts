import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startedForEach } from './started.ts';

/** A folder that is gone at the end of its scope. */
export const temporaryFolder = () => mkdtempDisposable(join(tmpdir(), 'trading-graph-'));

/** A folder for each test, empty before it and gone behind it. */
export function ownFolder(): { readonly path: string } {
  return startedForEach(temporaryFolder);
}
