// Packs the program as the npm package `trading-graph`: `node scripts/image/pack.ts [folder]` writes its tarball there.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { writeBundle } from './bundle.ts';

const project = join(import.meta.dirname, '..', '..');
const target = resolve(process.argv[2] ?? '.');
const folder = mkdtempSync(join(tmpdir(), 'trading-graph-package-'));

await writeBundle({ project, target: join(folder, 'dist') });
const own = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
const { name, version, description, license, type, engines } = own;
const about = {
  name,
  version,
  description,
  license,
  type,
  engines,
  bin: { [name]: 'dist/cli.js' },
  exports: {
    './schema.graphql': './schema.graphql',
    './package.json': './package.json',
  },
};
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(about, null, 2)}\n`);
for (const file of ['LICENSE', 'CHANGELOG.md', 'schema.graphql']) {
  copyFileSync(join(project, file), join(folder, file));
}
copyFileSync(join(project, 'scripts', 'image', 'README.md'), join(folder, 'README.md'));
const { status, stdout, stderr } = spawnSync(
  'npm',
  ['pack', '--json', `--pack-destination=${target}`],
  {
    cwd: folder,
    encoding: 'utf8',
  },
);
rmSync(folder, { recursive: true });
if (status !== 0) {
  console.error(`${stdout}${stderr}\nThe package could not be packed (npm says why above).`);
  process.exit(1);
}
const tarball = join(target, /"filename":\s*"([^"]+)"/.exec(stdout)?.[1] ?? '');
console.log(
  `Packed ${tarball}\nInstall it:\n\n  npm install ${tarball}\n  npx trading-graph start\n`,
);
