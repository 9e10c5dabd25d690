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
import { builtClient } from './built-client.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const run = promisify(execFile);

export type PackedClient = Awaited<ReturnType<typeof packClient>>;

/** The package as npm would publish it, and an app outside the workspace that has installed it. */
export async function packClient() {
  const temporary = mkdtempSync(join(tmpdir(), 'packed-client-'));
  const folder = join(temporary, 'package');
  const app = join(temporary, 'app');
  mkdirSync(folder);
  mkdirSync(app);
  for (const name of ['package.json', 'LICENSE', 'README.md', 'trusted-documents.json']) {
    cpSync(join(root, 'client', name), join(folder, name));
  }
  cpSync(await builtClient(), folder, { recursive: true });
  const packed = await run('npm', ['pack', '--json', '--ignore-scripts'], { cwd: folder });
  const name = /"filename":\s*"([^"]+)"/.exec(packed.stdout)?.[1] ?? '';
  const tarball = join(folder, name);
  writeFileSync(join(app, 'package.json'), '{"name":"app","private":true,"type":"module"}');
  const installed = join(app, 'node_modules', 'trading-graph-client');
  mkdirSync(installed, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
  // The packages that it declares are linked from this project: npm takes seconds to install them.
  const { dependencies, peerDependencies } = clientManifest();
  for (const name of Object.keys({ ...dependencies, ...peerDependencies, '@types/react': '*' })) {
    const path = join(app, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), path);
  }
  return {
    folder,
    tarball,
    app,
    /** Runs a script in the app's folder; the answer is what it prints. */
    async run(script: string, ...args: string[]) {
      return (await run(process.execPath, [join(app, script), ...args], { cwd: app })).stdout;
    },
    write(file: string, text: string) {
      const path = join(app, file);
      writeFileSync(path, text);
      return path;
    },
    [Symbol.dispose]: () => rmSync(temporary, { recursive: true, force: true }),
  };
}

/** The paths that an app can import. */
export function entryPoints(): readonly string[] {
  return Object.keys(clientManifest().exports).map((path) =>
    path.replace(/^\./, 'trading-graph-client'),
  );
}

type Manifest = Record<'exports' | 'peerDependencies', Record<string, unknown>> &
  Partial<Record<'dependencies', Record<string, unknown>>>;

function clientManifest(): Manifest {
  return JSON.parse(readFileSync(join(root, 'client', 'package.json'), 'utf8')) as Manifest;
}
