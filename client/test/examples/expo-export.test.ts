import { cpSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createApp, type InstalledApp, packagesOf } from '../support/installed-app.ts';

// Five hundred packages are installed, and Metro reads most of them.
vi.setConfig({ testTimeout: 900_000, hookTimeout: 600_000 });

const example = join(import.meta.dirname, '..', '..', '..', 'examples', 'expo');
// Expo wants a patch of `@expo/env` that not every registry has: the override there takes the one before.
const own = join(import.meta.dirname, 'expo-packages');
const CLIENT = 'trading-graph-client';
/** The bytes with which Hermes' bytecode begins. */
const BYTECODE = 'c61fbc03c103191f';

const { packages, reason } = await packagesOf(own);

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
    let app: InstalledApp;

    beforeAll(async () => {
      app = createApp(packages, { EXPO_OFFLINE: '1', EXPO_NO_TELEMETRY: '1' });
      await app.install();
      for (const file of ['app.json', 'package.json', 'tsconfig.json', 'src']) {
        cpSync(join(example, file), join(app.folder, file), { recursive: true });
      }
    });
    afterAll(() => app[Symbol.dispose]());

    test('its types are theirs', async () => {
      expect(await app.run('typescript/bin/tsc', '-p', '.')).toBe('');
    });

    test('it is exported for both platforms, with what it imports of the client', async () => {
      await app.run('expo/bin/cli', 'export', '--platform', 'ios', '--platform', 'android');
      const bundles = globSync('dist/_expo/static/js/{ios,android}/*.hbc', { cwd: app.folder });
      expect(bundles).toHaveLength(2);
      for (const bundle of bundles) {
        const code = readFileSync(join(app.folder, bundle));
        expect(code.subarray(0, 8).toString('hex')).toBe(BYTECODE);
        expect(code.includes('accountChanges')).toBe(true);
        expect(code.includes('TradingGraphCatalog')).toBe(false);
      }
    });
  },
);
