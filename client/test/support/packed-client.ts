import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type BuiltClient, builtClient } from './built-client.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const run = promisify(execFile);

/** An app outside the workspace that has installed the package. */
export interface PackedClient extends BuiltClient, Disposable {
  readonly app: string;
  /** Runs a script in the app's folder; the answer is what it prints. */
  run(script: string, ...args: string[]): Promise<string>;
  /** Writes a file in the app's folder; the answer is its path. */
  write(file: string, text: string): string;
}

export async function packClient(): Promise<PackedClient> {
  const built = await builtClient();
  const app = mkdtempSync(join(tmpdir(), 'packed-client-'));
  writeFileSync(join(app, 'package.json'), '{"name":"app","private":true,"type":"module"}');
  cpSync(built.folder, join(app, 'node_modules', 'trading-graph-client'), { recursive: true });
  // The packages that it declares are linked from this project: npm takes seconds to install them.
  const { dependencies, peerDependencies } = clientManifest();
  for (const name of Object.keys({ ...dependencies, ...peerDependencies, '@types/react': '*' })) {
    const path = join(app, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), path);
  }
  return {
    ...built,
    app,
    async run(script, ...args) {
      return (await run(process.execPath, [join(app, script), ...args], { cwd: app })).stdout;
    },
    write(file, text) {
      const path = join(app, file);
      writeFileSync(path, text);
      return path;
    },
    [Symbol.dispose]: () => rmSync(app, { recursive: true, force: true }),
  };
}

/** The paths that an app can import. */
export function entryPoints(): readonly string[] {
  return Object.keys(clientManifest().exports).map((path) =>
    path.replace(/^\./, 'trading-graph-client'),
  );
}

/** Those that a phone can have, which has no files of Node. */
export function phoneEntries(): readonly string[] {
  return entryPoints().filter((entry) => !/\/(files|trusted-documents\.json)$/.test(entry));
}

/** A module that imports all of these as the array `entries`. */
export function appOfAll(): string {
  const entries = phoneEntries();
  const imports = entries.map((entry, at) => `import * as entry${at} from '${entry}';`);
  return `${imports.join('\n')}\nexport const entries = [${entries.map((_entry, at) => `entry${at}`)}];\n`;
}

type Manifest = Record<'exports' | 'peerDependencies', Record<string, unknown>> &
  Partial<Record<'dependencies', Record<string, unknown>>>;

function clientManifest(): Manifest {
  return JSON.parse(readFileSync(join(root, 'client', 'package.json'), 'utf8')) as Manifest;
}
