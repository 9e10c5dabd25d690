import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { builtClient } from './built-client.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const run = promisify(execFile);

/** The package as npm would publish it, and an app that has installed it. */
export interface PackedClient extends Disposable {
  /** The folder that is packed. */
  readonly folder: string;
  readonly tarball: string;
  /** A folder outside the workspace. */
  readonly app: string;
  /** Runs a script in the app's folder; the answer is what it prints. */
  run(script: string, ...args: string[]): Promise<string>;
  write(name: string, text: string): string;
}

export async function packClient(): Promise<PackedClient> {
  const temporary = mkdtempSync(join(tmpdir(), 'packed-client-'));
  const folder = join(temporary, 'package');
  const app = join(temporary, 'app');
  mkdirSync(folder);
  mkdirSync(app);
  for (const name of ['package.json', 'README.md', 'trusted-documents.json']) {
    cpSync(join(root, 'client', name), join(folder, name));
  }
  cpSync(await builtClient(), join(folder, 'dist'), { recursive: true });
  const packed = await run('npm', ['pack', '--json', '--ignore-scripts'], { cwd: folder });
  const name = /"filename":\s*"([^"]+)"/.exec(packed.stdout)?.[1] ?? '';
  const tarball = join(folder, name);
  writeFileSync(join(app, 'package.json'), '{"name":"app","private":true,"type":"module"}');
  // Its dependencies come from this project's own, so that no network is needed.
  const own = ['graphql-ws', 'graphql'];
  const dependencies = own.map((name) => join(root, 'node_modules', name));
  const options = ['--offline', '--install-links', '--ignore-scripts', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...options, tarball, ...dependencies], { cwd: app });
  // The optional peers are copied: npm packs each one that it installs from a folder, which takes long.
  const peers = [...withDependencies('@apollo/client'), 'rxjs', 'react', '@types/react', 'csstype'];
  for (const name of peers) {
    cpSync(join(root, 'node_modules', name), join(app, 'node_modules', name), { recursive: true });
  }
  return {
    folder,
    tarball,
    app,
    async run(script, ...args) {
      return (await run(process.execPath, [join(app, script), ...args], { cwd: app })).stdout;
    },
    write(file, text) {
      const path = join(app, file);
      writeFileSync(path, text);
      return path;
    },
    [Symbol.dispose]: () => rmSync(temporary, { recursive: true, force: true }),
  };
}

/** The package, and all that it needs. */
function withDependencies(name: string): readonly string[] {
  const text = readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8');
  const { dependencies = {} } = JSON.parse(text) as { dependencies?: Record<string, string> };
  return [...new Set([name, ...Object.keys(dependencies).flatMap(withDependencies)])];
}

/** The paths that an app can import. */
export function entryPoints(): readonly string[] {
  const text = readFileSync(join(root, 'client', 'package.json'), 'utf8');
  const { exports } = JSON.parse(text) as { exports: Record<string, unknown> };
  return Object.keys(exports).map((path) => path.replace(/^\./, 'trading-graph-client'));
}
