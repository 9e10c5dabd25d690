import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/start.ts';
import { postQuery } from '../support/app.ts';
import { startFacadeProcess } from '../support/facade-process.ts';
import { ownFolder } from '../support/own-folder.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);
const folder = ownFolder();

test('the package is installed in an empty folder, and serves there', async () => {
  const { path } = folder;
  await run(process.execPath, [join(ROOT, 'scripts/image/pack.ts'), path], { cwd: ROOT });
  const [tarball = ''] = (await readdir(path)).filter((name) => name.endsWith('.tgz'));
  expect(tarball).toMatch(/^trading-graph-\d+\.\d+\.\d+\.tgz$/);
  await writeFile(join(path, 'package.json'), '{"type":"module"}');
  const install = ['install', '--offline', '--install-links', '--no-audit', '--no-fund'];
  await run('npm', [...install, `./${tarball}`], { cwd: path });

  const installed = join(path, 'node_modules/trading-graph');
  const command = (...args: string[]) =>
    run(process.execPath, [join(installed, 'dist/cli.js'), ...args], { cwd: path });
  const { stdout: sdl } = await command('schema');
  expect(sdl.trim()).toBe(readFileSync(join(installed, 'schema.graphql'), 'utf8').trim());

  await using sandbox = await startSandbox({ tickMs: 0 });
  const environment = {
    GATEWAY_URL: sandbox.url,
    GRAPHIQL: 'on',
  };
  const program = join(installed, 'dist/main.js');
  await using facade = await startFacadeProcess(environment, [], program);
  const { data } = await postQuery(`${facade.url}/graphql`, '{ positions { id } }', {
    token: sandbox.token({ email: 'demo@example.com' }),
  });
  expect(data.positions[0].id).toBe('700001001');
});
