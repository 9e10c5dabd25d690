import { execFileSync } from 'node:child_process';

/** What git prints, in the folder in which the command was started. Throws if git fails. */
export function git(...args: readonly string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

/** The tag of the last release before this commit, such as `v1.2.0`; null if there is none. */
export function lastRelease(): string | null {
  try {
    return git('describe', '--tags', '--match', 'v[0-9]*', '--abbrev=0');
  } catch {
    return null;
  }
}
