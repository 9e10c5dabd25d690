// Packs `trading-graph-client` from this checkout, and says how an app installs it. Plain JavaScript
// without dependencies, since a fresh clone has neither packages nor the Node that strips types.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
// npm's prepack compiles the sources; what that prints is shown only where it fails. It needs nothing but TypeScript:
// the compiler writes each declaration from its own file, and types are left to `npm run check`.
const { status, stdout, stderr, error } = spawnSync(
  'npm',
  ['pack', '--workspace=client', '--json', `--pack-destination=${root}`],
  { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
);
const name = /"filename":\s*"([^"]+)"/.exec(stdout ?? '')?.[1];
if (status !== 0 || name === undefined) {
  process.stderr.write([stdout, stderr, error?.message, ''].filter(Boolean).join('\n'));
  console.error('The client could not be packed (npm says why above).');
  process.exit(1);
}
const tarball = join(root, name);
console.log(`Packed ${tarball}\nInstall it in your app:\n\n  npm install ${tarball}\n`);
