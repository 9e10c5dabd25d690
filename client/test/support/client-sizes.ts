import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type InputOptions, rolldown } from 'rolldown';
import type { BundledModule } from './bundlers.ts';

const source = join(import.meta.dirname, '..', '..', 'src');
export const README: string = join(import.meta.dirname, '..', '..', 'README.md');
export const TABLE: RegExp = /(?<=<!-- sizes[^>]*-->\n\n)[\s\S]*?(?=\n\n<!-- end of sizes -->)/;

const ENTRY = 'all-entries';

/** A row of the README's table: files of `src` without their ending, and those that the app has anyway. */
interface Measured {
  readonly what: string;
  readonly file: string;
  /** The file that brings it where nothing is shaken. */
  readonly entry?: string;
  readonly beside?: string;
}

const WHOLE = { file: 'create-client', entry: 'index' };
const ROWS: readonly Measured[] = [
  { what: '`createRequests` of `/requests`', file: 'requests' },
  { what: '`createClientWith` of `/core`', file: 'core-client' },
  { what: '`/live` beside it', file: 'live', beside: 'core-client' },
  { what: '`/orders` beside it', file: 'orders', beside: 'core-client' },
  { what: '`createClient`, which has all of these', ...WHOLE },
  { what: '`/react` beside it', file: 'react', beside: 'index' },
  { what: '`/apollo` beside it', file: 'apollo', beside: 'index' },
  { what: '`/schema` alone', file: 'schema' },
];

/** The bytes, gzipped, of a row by each bundler. */
export interface Size {
  readonly what: string;
  readonly bytes: number;
}

/** Measures what Vite packs of what an app uses. */
export async function viteSizes(): Promise<readonly Size[]> {
  const bytesOf = async (files: readonly string[]) =>
    (await bundled(files.map((file) => `${file}.ts`))).bytes;
  return Promise.all(
    ROWS.map(async ({ what, file, beside }) => {
      const base = beside === 'index' ? WHOLE.file : beside;
      const own = await bytesOf(base === undefined ? [file] : [base, file]);
      return { what, bytes: own - (base === undefined ? 0 : await bytesOf([base])) };
    }),
  );
}

/** One bundle of these files of `src` together by Vite's bundler, as an app has it that uses all that they export. */
export async function bundled(
  entries: readonly string[],
  options: InputOptions = {},
): Promise<{ readonly bytes: number; readonly modules: readonly string[] }> {
  const code = entries.map((entry) => `export * from ${JSON.stringify(join(source, entry))};`);
  const bundle = await rolldown({
    input: ENTRY,
    platform: 'browser',
    external: ['react', /^@apollo\//],
    ...options,
    plugins: [
      {
        name: ENTRY,
        resolveId: (id) => (id === ENTRY ? id : null),
        load: (id) => (id === ENTRY ? code.join('\n') : null),
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  const chunks = output.filter((part) => part.type === 'chunk');
  return {
    bytes: gzipSync(chunks.map(({ code }) => code).join('')).length,
    modules: chunks
      .flatMap(({ moduleIds }) => moduleIds)
      .filter((id) => id !== ENTRY)
      .map((id) => id.split('/src/').at(-1) ?? ''),
  };
}

/** Measures what Metro packs: every module that an entry needs. */
export function metroSizes(modules: readonly BundledModule[]): readonly Size[] {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const bytesOf = (entries: readonly string[]) => {
    const needed = new Set<BundledModule>();
    const waiting = modules.filter(({ path }) =>
      entries.some((entry) => path.endsWith(`/trading-graph-client/dist/${entry}.js`)),
    );
    if (waiting.length !== entries.length) throw new Error(`not in the bundle: ${entries}`);
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (needed.has(next) || !next.path.includes('/trading-graph-client/')) continue;
      needed.add(next);
      waiting.push(...next.dependencies.flatMap((path) => byPath.get(path) ?? []));
    }
    return gzipSync([...needed].map(({ code }) => code).join('\n')).length;
  };
  return ROWS.map(({ what, file, entry = file, beside }) => ({
    what,
    bytes: beside === undefined ? bytesOf([entry]) : bytesOf([beside, entry]) - bytesOf([beside]),
  }));
}

export function sizesTable(vite: readonly Size[], metro: readonly Size[]): string {
  const rows = ROWS.map(
    ({ what }, at) => `| ${what} | ${kilobytes(vite[at])} | ${kilobytes(metro[at])} |`,
  );
  return ['| kB, gzipped | Vite | Metro |', '|---|---|---|', ...rows].join('\n');
}

/** The README's figures of Vite, in bytes. */
export function namedSizes(): readonly Size[] {
  const [table = ''] = TABLE.exec(readFileSync(README, 'utf8')) ?? [];
  const [, , ...rows] = table.split('\n');
  return rows.map((row) => {
    const [, what = '', vite] = row.split('|').map((cell) => cell.trim());
    return { what, bytes: Number(vite) * 1_000 };
  });
}

function kilobytes(size: Size | undefined): string {
  return ((size?.bytes ?? Number.NaN) / 1_000).toFixed(1);
}
