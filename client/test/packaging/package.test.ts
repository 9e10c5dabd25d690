import { execFile } from 'node:child_process';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { expect, test } from 'vitest';
import { startedOnce } from '../../../test/support/started.ts';
import { entryPoints, packClient } from '../support/packed-client.ts';
import { runTool } from '../support/run-tool.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const packed = startedOnce(packClient);

test('the CommonJS files export the same names as the ES modules', async () => {
  const entries = entryPoints().filter((path) => !path.endsWith('.json'));
  async function exportsBy(file: string, load: (entry: string) => string) {
    const lines = entries.map((entry) => `console.log(Object.keys(${load(entry)}).sort().join());`);
    const path = packed.write(file, lines.join('\n'));
    const { stdout } = await promisify(execFile)(process.execPath, [path]);
    return stdout.trim().split('\n');
  }
  const exported = await exportsBy('names.js', (entry) => `await import('${entry}')`);
  expect(exported).toHaveLength(entries.length);
  expect(await exportsBy('names.cjs', (entry) => `require('${entry}')`)).toEqual(exported);
});

test('the hooks are marked “use client”, for apps that are rendered on a server', () => {
  for (const file of ['react.js', 'cjs/react.js'])
    expect(readFileSync(join(packed.folder, 'dist', file), 'utf8')).toMatch(/^.use client.;\n/);
});

test('instanceof accepts the errors of both module formats', async () => {
  const path = packed.write(
    'errors.cjs',
    `const own = require('trading-graph-client');
    import('trading-graph-client').then((other) => {
      class Payment extends own.TradingGraphError {}
      const made = (Own) => new Own('no', { code: 'NETWORK', retryable: true });
      const isOne = (error) => [own.TradingGraphError, other.TradingGraphError, Payment].map((each) => error instanceof each);
      const all = [made(own.TradingGraphError), made(other.TradingGraphError), made(Payment), new Error('no'), null];
      console.log(JSON.stringify(all.map(isOne)));
    });`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [path]);
  // One row for each error: is it an instance of this format's class, of the other format's class, and of the subclass?
  expect(JSON.parse(stdout)).toEqual([
    [true, true, false],
    [true, true, false],
    [true, true, true],
    [false, false, false],
    [false, false, false],
  ]);
});

test('the package has few files, and its README does not link to files outside of it', () => {
  const files = globSync('**/*', { cwd: packed.folder, withFileTypes: true }).filter((file) =>
    file.isFile(),
  );
  const bytes = files.map(({ parentPath, name }) => statSync(join(parentPath, name)).size);
  expect(files.length).toBeLessThan(300);
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(2_000_000);
  // With source maps a debugger shows the sources.
  const shared = files.filter(({ parentPath }) => parentPath.endsWith('shared'));
  const maps = shared.filter(({ name }) => name.endsWith('.js.map'));
  expect(maps.length).toBeGreaterThan(0);
  // Each file that is not a map has a map.
  expect(shared.length).toBe(2 * maps.length);
  expect(readFileSync(join(packed.folder, 'README.md'), 'utf8')).not.toContain('](../');
});

test('publint reports nothing', async () => {
  const { messages } = await publint({ pkgDir: packed.folder, strict: true, pack: false });
  expect(messages).toEqual([]);
});

test('the types are right, whether or not `exports` is read', async () => {
  const json = entryPoints().filter((path) => path.endsWith('.json'));
  const excluded = json.flatMap((path) => ['--exclude-entrypoints', path.replace(/^[^/]+\//, '')]);
  // Rejects if the tool finds a fault.
  await runTool('@arethetypeswrong/cli/dist/index.js', [
    packed.tarball,
    '--profile',
    'strict',
    ...excluded,
  ]);
});

test('the package has the version of the project', () => {
  const versions = [join(packed.folder, 'package.json'), join(root, 'package.json')].map(
    (path) => JSON.parse(readFileSync(path, 'utf8')).version,
  );
  expect(versions[0]).toBe(versions[1]);
});
