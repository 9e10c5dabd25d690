import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { locate } from '../../test/support/machine.ts';

const SUITE = 'bookworm';
const LONGEST_MS = 180_000;
/** What Node's binary links to beside the C library. */
const PACKAGES = ['libatomic1', 'libstdc++6'];
/** As the official image leaves them out. */
const EXCLUDED = ['/usr/share/doc/*', '/usr/share/man/*', '/usr/share/locale/*'];

export const BASE_NAME = `Debian ${SUITE} (essential packages) and this project's Node`;

/**
 * The build context of a base that stands in for the official Node image: this machine reaches no registry.
 * Its packages are Debian's; its Node is the project's own, and its npm this machine's, which is no part of the last stage's work.
 */
export function writeBaseContext(folder: string, cacheFolder: string): void {
  mkdirSync(folder);
  copyFileSync(debian(cacheFolder), join(folder, 'debian.tar'));
  copyFileSync(process.execPath, join(folder, 'node'));
  const npm = locate('NPM_PATH', ['npm']);
  if (npm === null) throw new Error('there is no npm on this machine');
  const root = dirname(dirname(realpathSync(npm)));
  cpSync(root, join(folder, 'npm'), { recursive: true });
  writeFileSync(
    join(folder, 'Dockerfile'),
    `FROM scratch
ADD debian.tar /
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
`,
  );
}

/** Made once: it takes half a minute. */
function debian(cacheFolder: string): string {
  const path = join(cacheFolder, `${SUITE}.tar`);
  if (existsSync(path)) return path;
  mkdirSync(cacheFolder, { recursive: true });
  const exclude = EXCLUDED.map((pattern) => `--dpkgopt=path-exclude=${pattern}`);
  const partial = `${path}.partial`;
  const args = [
    '--variant=essential',
    '--format=tar',
    `--include=${PACKAGES.join(',')}`,
    ...exclude,
    SUITE,
    partial,
  ];
  const { status, stderr, error } = spawnSync('mmdebstrap', args, {
    encoding: 'utf8',
    timeout: LONGEST_MS,
  });
  if (status !== 0) throw new Error(`mmdebstrap: ${error?.message ?? stderr.trim()}`);
  renameSync(partial, path);
  return path;
}
