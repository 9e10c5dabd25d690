import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  realpathSync,
  renameSync,
  symlinkSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { locate } from '../../test/support/machine.ts';
import type { Buildah } from './buildah.ts';
import { run } from './run.ts';

const SUITE = 'bookworm';
/** What Node's binary links to beside the C library, and what spares the base a whole Perl: it has merged folders from the start. */
const PACKAGES = ['libatomic1', 'libstdc++6', 'usr-is-merged'];
const MERGED_FOLDERS = '/usr/share/mmdebstrap/hooks/merged-usr';
/** As the official image leaves them out. */
const EXCLUDED = ['/usr/share/doc/*', '/usr/share/man/*', '/usr/share/locale/*'];

export const BASE_NAME = `Debian ${SUITE} (essential packages) and this project's Node`;
export const BASE_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * Makes a base that stands in for the official Node image: this machine reaches no registry.
 * Its packages are Debian's; its Node is the project's own, and its npm this machine's, which is no part of the last stage's work.
 */
export function buildBase(buildah: Buildah, tag: string): void {
  const npm = locate('NPM_PATH', ['npm']);
  if (npm === null) throw new Error('there is no npm on this machine');
  const { container, folder } = buildah.from('scratch');
  // Written where the container has it: steps of a Dockerfile would copy all of it twice more.
  run('tar', ['-xf', debian(), '-C', folder]);
  const local = join(folder, 'usr', 'local');
  copyFileSync(process.execPath, join(local, 'bin', 'node'));
  cpSync(dirname(dirname(realpathSync(npm))), join(local, 'lib', 'node_modules', 'npm'), {
    recursive: true,
  });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin', 'npm'));
  buildah.run('config', '--env', `PATH=${BASE_PATH}`, container);
  buildah.commit(container, tag);
}

/** Made once: it takes half a minute. */
export function debian(): string {
  const cacheFolder = join(homedir(), '.cache', 'trading-graph');
  const path = join(cacheFolder, `debian-${SUITE}.tar`);
  if (existsSync(path)) return path;
  mkdirSync(cacheFolder, { recursive: true });
  const partial = `${path}.partial`;
  run('mmdebstrap', [
    ...['--variant=essential', '--format=tar', `--hook-dir=${MERGED_FOLDERS}`],
    `--include=${PACKAGES.join(',')}`,
    ...EXCLUDED.map((pattern) => `--dpkgopt=path-exclude=${pattern}`),
    ...[SUITE, partial],
  ]);
  renameSync(partial, path);
  return path;
}
