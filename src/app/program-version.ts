import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** The build that runs: two builds of one version differ in their revision. */
export interface Build {
  readonly version: string;
  readonly revision: string;
}

/** The version is that of package.json; the image names its revision, a checkout knows its own. */
export function programBuild({ revision }: { readonly revision: string | null }): Build {
  return { version: programVersion(), revision: revision ?? checkedOutRevision() };
}

export function programVersion(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}

function checkedOutRevision(): string {
  // Otherwise Git would look further up, and name the commit of another project.
  if (!existsSync(new URL('../../.git', import.meta.url))) return 'unknown';
  try {
    // The folder may be another user's, as that of an installation by root is.
    return execFileSync('git', ['-c', 'safe.directory=*', 'rev-parse', 'HEAD'], {
      cwd: new URL('../../', import.meta.url),
      stdio: ['ignore', 'pipe', 'ignore'],
      encoding: 'utf8',
      timeout: 5_000,
    }).trim();
  } catch {
    return 'unknown';
  }
}
