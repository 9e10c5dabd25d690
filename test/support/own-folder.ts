import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startedForEach } from './started.ts';

/** A folder for each test, empty before it and gone behind it. */
export function ownFolder(): { readonly path: string } {
  return startedForEach(() => mkdtempDisposable(join(tmpdir(), 'trading-graph-')));
}
