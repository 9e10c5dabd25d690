import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Gateway } from './gateway.ts';
import { start } from './start-subjects.ts';
import type { Subject } from './subject.ts';

const PEERS_FOLDER = fileURLToPath(new URL('../peers/', import.meta.url));
/** The usual alternatives, each with the file that starts it. */
const PEERS = [
  { name: 'yoga, Pothos', endpoint: '/graphql', script: `${PEERS_FOLDER}yoga.mjs` },
  { name: 'Mercurius, jit', endpoint: '/graphql', script: `${PEERS_FOLDER}mercurius.mjs` },
  { name: 'Apollo Server', endpoint: '/', script: `${PEERS_FOLDER}apollo.mjs` },
];

export function startPeers(gateway: Gateway): Promise<Subject>[] {
  installPeers();
  return PEERS.map((peer) => start(gateway, peer));
}

/** The packages of the peers are not the project's, so they are installed on demand. */
function installPeers(): void {
  const wanted = readFileSync(`${PEERS_FOLDER}package-lock.json`, 'utf8');
  const installed = `${PEERS_FOLDER}node_modules/.installed-by.json`;
  if (existsSync(installed) && readFileSync(installed, 'utf8') === wanted) return;
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { cwd: PEERS_FOLDER, stdio: 'inherit' });
  if (status !== 0) throw new Error('npm could not install the peers');
  writeFileSync(installed, wanted);
}
