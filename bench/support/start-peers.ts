import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Contestant } from './contestant.ts';
import { type Surroundings, start } from './start-contestants.ts';

/** The usual alternatives, by the file that sets each up. */
export const PEERS = [
  { name: 'yoga, Pothos', file: 'yoga.mjs', endpoint: '/graphql' },
  { name: 'Mercurius, jit', file: 'mercurius.mjs', endpoint: '/graphql' },
  { name: 'Apollo Server', file: 'apollo.mjs', endpoint: '/' },
] as const;

/** The same yoga, made as quick as its own options and Mercurius' jit make it. */
const TUNED_YOGA = {
  name: 'yoga, tuned',
  file: 'yoga.mjs',
  endpoint: '/graphql',
  environment: { TUNED: 'yes' },
};

/** The rows that they are set up for. */
export const ROWS_OF_PEERS = [
  'home',
  'home-still',
  'search',
  'search-fresh',
  'positions',
  'positions-still',
  'customer-id',
];

export const PEERS_FOLDER = fileURLToPath(new URL('../peers/', import.meta.url));

export function startPeers(surroundings: Surroundings): Promise<Contestant>[] {
  installPeers();
  return [...PEERS.map((peer) => ({ environment: {}, ...peer })), TUNED_YOGA].map(
    ({ name, file, endpoint, environment }) =>
      start(surroundings, {
        name,
        speaks: 'graphql',
        endpoint,
        script: PEERS_FOLDER + file,
        environment: { NODE_ENV: 'production', ...environment },
      }),
  );
}

/** Their packages are none of the project's: they are installed on demand. */
export function installPeers(): void {
  const wanted = readFileSync(`${PEERS_FOLDER}package-lock.json`, 'utf8');
  if (existsSync(`${PEERS_FOLDER}node_modules/.package-lock.json`) && isInstalled(wanted)) return;
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { cwd: PEERS_FOLDER, stdio: 'inherit' });
  if (status !== 0) throw new Error('npm could not install the peers');
}

function isInstalled(wanted: string): boolean {
  const { packages: all } = JSON.parse(wanted) as { packages: Packages };
  const { packages: present } = JSON.parse(
    readFileSync(`${PEERS_FOLDER}node_modules/.package-lock.json`, 'utf8'),
  ) as { packages: Packages };
  return Object.entries(all).every(
    ([path, { version, optional }]) =>
      path === '' || optional === true || present[path]?.version === version,
  );
}

type Packages = Record<string, { readonly version?: string; readonly optional?: boolean }>;
