import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { builtClient } from './built-client.ts';

const root = join(import.meta.dirname, '..', '..', '..');

export type PackedClient = Awaited<ReturnType<typeof packClient>>;

/** An app outside the workspace that has installed the package. */
export async function packClient(packages = declaredPackages()) {
  const built = await builtClient();
  const app = mkdtempSync(join(tmpdir(), 'packed-client-'));
  writeFileSync(join(app, 'package.json'), '{"name":"app","private":true,"type":"module"}');
  cpSync(built.folder, join(app, 'node_modules', 'trading-graph-client'), { recursive: true });
  // The app's packages are linked from this project, because npm takes seconds to install them.
  for (const name of packages) {
    const path = join(app, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), path);
  }
  return {
    ...built,
    app,
    /** Writes a file in the app's folder; returns its path. */
    write(file: string, text: string) {
      const path = join(app, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      return path;
    },
    [Symbol.asyncDispose]: () => rm(app, { recursive: true, force: true }),
  };
}

/** The packages that the client declares. */
function declaredPackages(): readonly string[] {
  const { dependencies, peerDependencies } = clientManifest();
  return Object.keys({ ...dependencies, ...peerDependencies, '@types/react': '*' });
}

/** The paths that an app can import. */
export function entryPoints(): readonly string[] {
  return Object.keys(clientManifest().exports).map((path) =>
    path.replace(/^\./, 'trading-graph-client'),
  );
}

/** The entry points that are modules. */
export function moduleEntries(): readonly string[] {
  return entryPoints().filter((entry) => !entry.endsWith('.json'));
}

/** A module that imports all module entries, and exports them as the array `entries`. */
export function appOfAll(): string {
  const entries = moduleEntries();
  const imports = entries.map((entry, at) => `import * as entry${at} from '${entry}';`);
  return `${imports.join('\n')}\nexport const entries = [${entries.map((_entry, at) => `entry${at}`)}];\n`;
}

type Manifest = Record<'exports' | 'peerDependencies', Record<string, unknown>> &
  Partial<Record<'dependencies', Record<string, unknown>>>;

function clientManifest(): Manifest {
  return JSON.parse(readFileSync(join(root, 'client', 'package.json'), 'utf8')) as Manifest;
}
