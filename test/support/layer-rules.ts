import { posix } from 'node:path';
import { type SourceScan, scanSource } from './source-scan.ts';

/** Folders and files of src/ from left to right: each may import its own entry or one further right. */
const LAYERS = [
  ['main.ts', 'cli/', 'check/'],
  ['app.ts', 'app/'],
  ['server/'],
  ['graph.ts', 'graph-context.ts'],
  // Beside schema/: `PLUGINS_SEE` says more.
  ['plugins/'],
  ['schema/'],
  ['domain/'],
  ['gateway/'],
  ['store/'],
  ['lib/'],
];

/** A package, and the only folder that may import it. */
const PACKAGE_HOMES = [
  { name: /^undici$/, home: 'gateway/' },
  { name: /^@pothos\//, home: 'schema/' },
  { name: /^ioredis$/, home: 'store/' },
  { name: /^@opentelemetry\//, home: 'lib/tracing/' },
];

/** Plugins know GraphQL, not trading: what they need beside these is handed in, or stands on the schema. */
const PLUGINS_SEE = ['plugins/', 'lib/', 'schema/public-error.ts'];

const KNOWS_NO_GRAPHQL = ['domain/', 'gateway/', 'sandbox/', 'store/', 'lib/'];
const GRAPHQL = /^(@?graphql\b|@pothos\/)/;

/** All broken rules of a set of files (path under src/, or with check/ → text), one sentence each. */
export function findViolations(files: ReadonlyMap<string, string>): string[] {
  const scans = new Map([...files].map(([path, source]) => [path, scanSource(source)]));
  const found: string[] = [];
  for (const [path, scan] of scans) {
    if (!isConfig(path) && !isSandbox(path) && rankOf(path) === null) {
      found.push(`${path} is in no layer`);
    }
    for (const specifier of scan.imports) {
      const problem = specifier.startsWith('.')
        ? problemOfFile(path, specifier, files)
        : problemOfPackage(path, specifier);
      if (problem !== null) found.push(`${path} imports ${specifier}: ${problem}`);
    }
    found.push(...problemsOfText(path, scan));
  }
  return [...found, ...findCycles(scans)];
}

function problemOfFile(
  path: string,
  specifier: string,
  files: ReadonlyMap<string, string>,
): string | null {
  const target = targetOf(path, specifier);
  if (!files.has(target)) return 'there is no such file';
  if (isConfig(target)) {
    const mayRead =
      isConfig(path) ||
      ['main.ts', 'app.ts'].includes(path) ||
      ['app/', 'cli/', 'check/'].some((folder) => path.startsWith(folder));
    return mayRead ? null : 'configuration is for main, app, cli and check; others receive values';
  }
  if (isConfig(path)) return target.startsWith('lib/') ? null : 'configuration sees only lib';
  if (isSandbox(path)) {
    const isSeen =
      isSandbox(target) ||
      target.startsWith('lib/') ||
      target.startsWith('gateway/wire/') ||
      target === 'gateway/operations.ts';
    return isSeen ? null : 'the sandbox sees only lib and the wire';
  }
  if (isSandbox(target)) {
    return /^(app\.ts$|app\/|cli\/)/.test(path) ? null : 'the sandbox is for app and cli';
  }
  if (path.startsWith('plugins/')) {
    const isSeen = PLUGINS_SEE.some((entry) => target.startsWith(entry));
    return isSeen ? null : 'plugins see only lib and public errors';
  }
  if (target.startsWith('plugins/') && path.startsWith('schema/')) {
    return 'the schema stands beside the plugins';
  }
  const [from, to] = [rankOf(path), rankOf(target)];
  return from === null || to === null || from <= to ? null : 'that is a layer to the left';
}

function problemOfPackage(path: string, specifier: string): string | null {
  for (const { name, home } of PACKAGE_HOMES) {
    if (name.test(specifier) && !path.startsWith(home)) return `it belongs to ${home}`;
  }
  const isBlind = KNOWS_NO_GRAPHQL.some((folder) => path.startsWith(folder));
  return isBlind && GRAPHQL.test(specifier) ? 'this layer knows no GraphQL' : null;
}

function problemsOfText(path: string, { code, comments }: SourceScan): string[] {
  const found: string[] = [];
  if (/(?:[:<>|&,=([]|\b(?:as|satisfies|extends))\s*any\b\s*(?![\w.(:=]|\[\w)/.test(code)) {
    found.push(`${path} uses any`);
  }
  if (/\bexport\s+default\b|\bas\s+default\b/.test(code))
    found.push(`${path} has a default export`);
  if (/\bprocess\s*\.\s*env\b/.test(code) && !/^(main\.ts|cli\/)/.test(path)) {
    found.push(`${path} reads the environment`);
  }
  for (const comment of comments) {
    if (/@ts-(ignore|nocheck)/.test(comment)) found.push(`${path} switches the type check off`);
    if (/(@ts-expect-error|biome-ignore)(?!.*[:\s]\s*\S+ \S+)/.test(comment)) {
      found.push(`${path} suppresses a check without a reason`);
    }
  }
  return found;
}

/** Types count too: files that need each other's types cannot be read one after the other. */
function findCycles(scans: ReadonlyMap<string, SourceScan>): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) found.push(`import cycle: ${[...trail.slice(start), path].join(' → ')}`);
    if (start >= 0 || done.has(path)) return;
    for (const specifier of scans.get(path)?.imports ?? []) {
      if (specifier.startsWith('.')) {
        visit(targetOf(path, specifier), [...trail, path]);
      }
    }
    done.add(path);
  };
  for (const path of scans.keys()) visit(path, []);
  return found;
}

/** Both folders stand beside each other. */
function targetOf(path: string, specifier: string): string {
  const target = posix.join(posix.dirname(path), specifier);
  return target.replace(/^\.\.\/check\//, 'check/').replace(/^src\//, '');
}

function rankOf(path: string): number | null {
  const rank = LAYERS.findIndex((layer) =>
    layer.some((entry) => (entry.endsWith('/') ? path.startsWith(entry) : path === entry)),
  );
  return rank < 0 ? null : rank;
}

function isConfig(path: string): boolean {
  return path === 'config.ts' || path.startsWith('config/');
}

function isSandbox(path: string): boolean {
  return path.startsWith('sandbox/');
}
