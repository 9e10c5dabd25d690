import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { bareEnvironment } from '../../../test/support/bare-environment.ts';
import { ownPackages } from '../../../test/support/own-packages.ts';
import { builtClient } from '../support/built-client.ts';

// Five hundred packages are installed, and Metro reads most of them.
vi.setConfig({ testTimeout: 900_000, hookTimeout: 600_000 });

const example = join(import.meta.dirname, '..', '..', '..', 'examples', 'expo');
// Expo wants a patch of `@expo/env` that not every registry has: the override there takes the one before.
const own = join(import.meta.dirname, 'expo-packages');
const CLIENT = 'trading-graph-client';
/** The bytes with which Hermes' bytecode begins. */
const BYTECODE = 'c61fbc03c103191f';
const run = promisify(execFile);

const { packages, reason } = await ownPackages(own).then(
  (folder) => ({ packages: folder, reason: '' }),
  ({ message }: Error) => ({ packages: '', reason: ` (${message.split('\n')[0]})` }),
);

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

function manifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

test('its packages are those that the example installs', () => {
  const { dependencies, devDependencies } = manifest(example);
  const { [CLIENT]: _client, ...installed } = { ...dependencies, ...devDependencies };
  expect(manifest(own).dependencies).toEqual(installed);
});

describe.skipIf(reason !== '')(
  `examples/expo with Expo and React Native themselves${reason}`,
  () => {
    let app: string;

    beforeAll(async () => {
      app = mkdtempSync(join(tmpdir(), 'expo-'));
      const modules = join(app, 'node_modules');
      cpSync(join(packages, 'node_modules'), modules, { recursive: true, verbatimSymlinks: true });
      const { folder } = await builtClient();
      cpSync(folder, join(modules, CLIENT), { recursive: true });
      for (const file of ['app.json', 'package.json', 'tsconfig.json', 'src']) {
        cpSync(join(example, file), join(app, file), { recursive: true });
      }
    });
    afterAll(() => rmSync(app, { recursive: true, force: true }));

    const inApp = (script: string, ...args: readonly string[]) =>
      run(process.execPath, [join('node_modules', script), ...args], {
        cwd: app,
        // The command is its own; Metro runs others by the name of Node.
        env: {
          ...bareEnvironment(),
          CI: '1',
          EXPO_OFFLINE: '1',
          EXPO_NO_TELEMETRY: '1',
          PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
        },
      });

    test('its types are theirs', async () => {
      expect((await inApp('typescript/bin/tsc', '-p', '.')).stdout).toBe('');
    });

    test('it is exported for both platforms, with what it imports of the client', async () => {
      await inApp('expo/bin/cli', 'export', '--platform', 'ios', '--platform', 'android');
      const bundles = globSync('dist/_expo/static/js/{ios,android}/*.hbc', { cwd: app });
      expect(bundles).toHaveLength(2);
      for (const bundle of bundles) {
        const code = readFileSync(join(app, bundle));
        expect(code.subarray(0, 8).toString('hex')).toBe(BYTECODE);
        expect(code.includes('accountChanges')).toBe(true);
        expect(code.includes('TradingGraphCatalog')).toBe(false);
      }
    });
  },
);
