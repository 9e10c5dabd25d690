import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/start.ts';
import { postQuery } from '../support/app.ts';
import { startFacadeProcess } from '../support/facade-process.ts';
import { ownFolder } from '../support/own-folder.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);
const folder = ownFolder();

test('the package is installed in an empty folder, and serves with an extension there', async () => {
  const { path } = folder;
  await run(process.execPath, [join(ROOT, 'image/pack.ts'), path], { cwd: ROOT });
  const [tarball = ''] = (await readdir(path)).filter((name) => name.endsWith('.tgz'));
  expect(tarball).toMatch(/^trading-graph-\d+\.\d+\.\d+\.tgz$/);
  // Its dependencies are here already, in the versions that it wants.
  const own = ['graphql', '@pothos/core'].map((name) => `file:${join(ROOT, 'node_modules', name)}`);
  await writeFile(join(path, 'package.json'), '{"type":"module"}');
  const install = ['install', '--offline', '--install-links', '--no-audit', '--no-fund'];
  await run('npm', [...install, `./${tarball}`, ...own], { cwd: path });

  const installed = join(path, 'node_modules/trading-graph');
  const command = (...args: string[]) =>
    run(process.execPath, [join(installed, 'dist/cli.js'), ...args], { cwd: path });
  const { stdout: sdl } = await command('schema');
  expect(sdl.trim()).toBe(readFileSync(join(installed, 'schema.graphql'), 'utf8').trim());

  await writeFile(
    join(path, 'graph.ts'),
    `import { GraphQLError } from 'graphql';
    import type { Extension } from 'trading-graph/extension';
    declare module 'trading-graph/extension' {
      interface ExtensionScalars { Greeting: { Input: string; Output: string } }
    }
    const extension: Extension = ({ builder, refs }) => {
      const Greeting = builder.scalarType('Greeting', { serialize: (text) => text.concat('!') });
      builder.queryField('greeting', (t) => t.field({ type: Greeting, description: 'A greeting.', resolve: () => GraphQLError.name }));
      builder.objectField(refs.Position, 'label', (t) =>
        t.string({ description: 'A label.', resolve: ({ id, symbol }) => symbol + ' ' + id }));
    };
    export default extension;`,
  );
  const flags = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2024',
    '--skipLibCheck',
    '--allowImportingTsExtensions',
    '--typeRoots',
    join(ROOT, 'node_modules/@types'),
    '--types',
    'node',
  ];
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  // The example is tested as it is in a checkout.
  for (const name of ['graph.ts', 'graph.test.ts', 'service.ts']) {
    const text = readFileSync(join(ROOT, 'examples/extension', name), 'utf8');
    await writeFile(join(path, `example-${name}`), text.replaceAll("'./", "'./example-"));
  }
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  await run(process.execPath, ['--test', 'example-graph.test.ts'], { cwd: path, env });
  await run(process.execPath, [tsc, ...flags, 'graph.ts', 'example-graph.test.ts'], { cwd: path });
  await using sandbox = await startSandbox({ tickMs: 0 });
  const environment = {
    GATEWAY_URL: sandbox.url,
    EXTENSIONS: join(path, 'graph.ts'),
    GRAPHIQL: 'on',
  };
  const program = join(installed, 'dist/main.js');
  await using facade = await startFacadeProcess(environment, [], program);
  const { data } = await postQuery(`${facade.url}/graphql`, '{ greeting positions { label } }', {
    token: sandbox.token({ email: 'demo@example.com' }),
  });
  expect(data.greeting).toBe('GraphQLError!');
  expect(data.positions[0].label).toMatch(/^\S+ 700001001$/);
});
