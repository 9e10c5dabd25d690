import { spawnSync } from 'node:child_process';
import { locate } from '../test/support/machine.ts';

/**
 * Installs a package of Debian or Ubuntu. Returns the reason if this machine does not allow it; otherwise null. `note` is
 * printed with the package's name.
 */
export function installPackage(name: string, note: string, deadlineMs: number): string | null {
  if (process.platform !== 'linux' || locate('', ['apt-get']) === null) {
    return 'install it by your package manager';
  }
  if (process.getuid?.() !== 0) return `"apt-get install ${name}" as root installs it`;
  process.stderr.write(`Installing ${name} (${note}; once, up to a few minutes) …\n`);
  const install = () => aptGet(deadlineMs, 'install', '--no-install-recommends', name);
  if (install() === null) return null;
  // The package lists of a fresh container are empty, and those of an old machine are out of date.
  return aptGet(deadlineMs, 'update') ?? install();
}

/** Whether this user may install the package, and the present package lists have it. */
export function isOffered(name: string): boolean {
  const isRoot = process.getuid?.() === 0;
  return isRoot && spawnSync('apt-cache', ['show', name], { stdio: 'ignore' }).status === 0;
}

function aptGet(deadlineMs: number, ...args: string[]): string | null {
  const { status, stderr, error } = spawnSync('apt-get', ['-y', '-qq', ...args], {
    // The package must not start its service, which would occupy Redis' usual port. The tests start their own.
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    timeout: Math.max(1_000, deadlineMs - Date.now()),
  });
  if (status === 0) return null;
  const lastLine = stderr?.trim().split('\n').at(-1);
  return `apt-get ${args[0]}: ${error?.message ?? lastLine ?? `exit code ${status}`}`;
}
