// Packs the program as the npm package `trading-graph`: `node image/pack.ts [folder]` writes its tarball there.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { writeBundle } from './bundle.ts';

const project = join(import.meta.dirname, '..');
const target = resolve(process.argv[2] ?? '.');
const folder = mkdtempSync(join(tmpdir(), 'trading-graph-package-'));

// The plugins and extensions of an installation have the `graphql` that npm gives to both.
await writeBundle({ project, target: join(folder, 'dist'), external: ['graphql'] });
const own = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
const { name, version, description, license, type, engines, dependencies } = own;
const about = {
  name,
  version,
  description,
  license,
  type,
  engines,
  bin: { [name]: 'dist/cli.js' },
  exports: {
    './extension': { types: './extension.d.ts' },
    './testing': { types: './testing.d.ts', default: './dist/testing.js' },
    './schema.graphql': './schema.graphql',
    './package.json': './package.json',
  },
  // The types of the kit are Pothos'.
  dependencies: { graphql: dependencies.graphql, '@pothos/core': dependencies['@pothos/core'] },
};
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(about, null, 2)}\n`);
for (const file of ['LICENSE', 'CHANGELOG.md', 'schema.graphql']) {
  copyFileSync(join(project, file), join(folder, file));
}
copyFileSync(join(project, 'image', 'README.md'), join(folder, 'README.md'));
// They have types alone.
copyFileSync(join(project, 'src/extensions/kit.ts'), join(folder, 'extension.d.ts'));
const types = readFileSync(join(project, 'src/testing/test-graph.ts'), 'utf8');
writeFileSync(
  join(folder, 'testing.d.ts'),
  `${types}\nexport declare const startGraph: StartGraph;\n`,
);
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
