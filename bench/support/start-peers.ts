import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Contestant } from './contestant.ts';
import type { Gateway } from './gateway.ts';
import { start } from './start-contestants.ts';

/** The usual alternatives, by the file that sets each up; the last is made as quick as its options and Mercurius' jit make it. */
export const PEERS = [
  { name: 'yoga, Pothos', file: 'yoga.mjs', endpoint: '/graphql', environment: {} },
  { name: 'Mercurius, jit', file: 'mercurius.mjs', endpoint: '/graphql', environment: {} },
  { name: 'Apollo Server', file: 'apollo.mjs', endpoint: '/', environment: {} },
  { name: 'yoga, tuned', file: 'yoga.mjs', endpoint: '/graphql', environment: { TUNED: 'yes' } },
];

export const PEERS_FOLDER = fileURLToPath(new URL('../peers/', import.meta.url));

export function startPeers(gateway: Gateway): Promise<Contestant>[] {
  installPeers();
  return PEERS.map(({ name, file, endpoint, environment }) =>
    start(gateway, { name, endpoint, script: PEERS_FOLDER + file, environment }),
  );
}

/** Their packages are none of the project's: they are installed on demand. */
export function installPeers(): void {
  const wanted = readFileSync(`${PEERS_FOLDER}package-lock.json`, 'utf8');
  const installed = `${PEERS_FOLDER}node_modules/.installed-by.json`;
  if (existsSync(installed) && readFileSync(installed, 'utf8') === wanted) return;
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { cwd: PEERS_FOLDER, stdio: 'inherit' });
  if (status !== 0) throw new Error('npm could not install the peers');
  writeFileSync(installed, wanted);
}
