import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { INSTRUMENT_FIELDS, type Instrument } from '../../../client/src/generated/rows.ts';
import { bundlers } from '../../../client/test/support/bundlers.ts';
import { startTestApp } from '../../../test/support/app.ts';
import { ownPackages } from '../../../test/support/own-packages.ts';
import type { CatalogStops } from './catalog-stops.ts';

const run = promisify(execFile);
const FOLDERS: Readonly<Record<string, string>> = { linux: 'linux64-bin', darwin: 'osx-bin' };
/** Before each thread of other programs, where this user may have it: the program cannot tell what it waits for a core. */
const FIRST = ['chrt', '--fifo', '1'] as const;

export interface PhoneRun {
  readonly rows: readonly Instrument[];
  readonly rounds: number;
  /** For the files that are made. */
  readonly folder: string;
}

/** The instruments as an app fetches them. */
export async function instruments(count: number): Promise<readonly Instrument[]> {
  await using app = await startTestApp({ SANDBOX_INSTRUMENTS: `${count}`, MAX_COST: '1000000' });
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const query = `{ catalog { instruments { ${INSTRUMENT_FIELDS.join(' ')} } } }`;
  const { data } = await app.query(query, { token });
  return data.catalog.instruments;
}

/** The program of Hermes, which npm has; rejects where it has none for this machine, or cannot be asked. */
export async function hermesPath(): Promise<string> {
  const packages = await ownPackages(join(import.meta.dirname, '..', '..', 'hermes'));
  const folder = FOLDERS[process.platform] ?? 'win64-bin';
  const path = join(packages, 'node_modules', 'hermes-engine-cli', folder, 'hermes');
  await run(path, ['--version']);
  return path;
}

/** On an engine that compiles nothing. Node takes types away by what it compiles, so one file without them is run. */
export async function onNode({ rows, rounds, folder }: PhoneRun): Promise<CatalogStops> {
  const program = join(folder, 'on-node.mjs');
  const given = join(folder, 'rows.json');
  writeFileSync(program, await packed('on-node.ts', 'es'));
  writeFileSync(given, JSON.stringify(rows));
  const { stdout } = await run(process.execPath, ['--jitless', program, given, `${rounds}`]);
  return JSON.parse(stdout);
}

export async function onHermes(
  hermes: string,
  { rows, rounds, folder }: PhoneRun,
): Promise<CatalogStops> {
  const program = join(folder, 'on-hermes.js');
  const given = `var GIVEN = JSON.parse(${JSON.stringify(JSON.stringify({ rows, rounds }))});`;
  writeFileSync(program, `${given}\n${await forHermes(await packed('on-hermes.ts', 'iife'))}`);
  const mayBeFirst = spawnSync(FIRST[0], [...FIRST.slice(1), 'true']).status === 0;
  const [command = '', ...args] = [...(mayBeFirst ? FIRST : []), hermes, '-O', '-w'];
  const { stdout } = await run(command, [...args, '-Xmicrotask-queue', program]);
  return JSON.parse(stdout);
}

async function packed(entry: string, format: 'es' | 'iife'): Promise<string> {
  const { build } = await import('rolldown');
  const input = join(import.meta.dirname, entry);
  const { output } = await build({ input, external: /^node:/, output: { format }, write: false });
  return output[0].code;
}

/** By React Native's own preset, for engines that lack classes and async functions, as this one does. */
async function forHermes(code: string): Promise<string> {
  const load = createRequire(join(await bundlers(), 'package.json'));
  const babel = load('@babel/core') as {
    transformAsync(code: string, options: object): Promise<{ readonly code: string }>;
  };
  const preset = load.resolve('@react-native/babel-preset');
  const options = { unstable_transformProfile: 'default', enableBabelRuntime: false };
  const own = { ...options, disableImportExportTransform: true };
  const transformed = await babel.transformAsync(code, {
    ...{ babelrc: false, configFile: false, filename: 'on-hermes.js', presets: [[preset, own]] },
  });
  return transformed.code;
}
