import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

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

/** Runs a command of an npm package of this project. */
export async function runTool(path: string, args: readonly string[], cwd = root): Promise<string> {
  const program = join(root, 'node_modules', path);
  try {
    return (await run(process.execPath, [program, ...args], { cwd, maxBuffer: 2 ** 24 })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${path} failed:\n${stdout}\n${stderr}`, { cause: error });
  }
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
  await runTool('typescript/bin/tsc', ['-p', 'client', '--outDir', join(folder, 'dist')]);
  const packed = await run('npm', ['pack', '--json', '--ignore-scripts'], { cwd: folder });
  const name = /"filename":\s*"([^"]+)"/.exec(packed.stdout)?.[1] ?? '';
  const tarball = join(folder, name);
  writeFileSync(join(app, 'package.json'), '{"name":"app","private":true,"type":"module"}');
  // Its dependencies come from this project's own, so that no network is needed.
  const dependencies = ['graphql-ws', 'graphql'].map((own) => join(root, 'node_modules', own));
  const options = ['--offline', '--install-links', '--ignore-scripts', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...options, tarball, ...dependencies], { cwd: app });
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

/** The paths that an app can import. */
export function entryPoints(): readonly string[] {
  const text = readFileSync(join(root, 'client', 'package.json'), 'utf8');
  const { exports } = JSON.parse(text) as { exports: Record<string, unknown> };
  return Object.keys(exports).map((path) => path.replace(/^\./, 'trading-graph-client'));
}
