import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type InputOptions, rolldown } from 'rolldown';

const source = join(import.meta.dirname, '..', '..', 'src');

const ENTRY = 'all-entries';

/** A file of `src`, without its extension, that an app adds to the file `beside`, which it has already. */
interface Measured {
  readonly file: string;
  readonly beside?: string;
  readonly maxKilobytes: number;
}

const WHOLE = 'create-client';
const ROWS: readonly Measured[] = [
  { file: 'requests', maxKilobytes: 8.1 },
  { file: 'core-client', maxKilobytes: 12.1 },
  { file: 'live', beside: 'core-client', maxKilobytes: 3.9 },
  { file: 'orders', beside: 'core-client', maxKilobytes: 7.0 },
  { file: 'follow', maxKilobytes: 4.0 },
  { file: WHOLE, maxKilobytes: 22.8 },
  { file: 'react', beside: WHOLE, maxKilobytes: 0.9 },
  { file: 'apollo', beside: WHOLE, maxKilobytes: 1.6 },
  { file: 'schema', maxKilobytes: 1.2 },
];

export interface Size extends Measured {
  readonly kilobytes: number;
}

/** Measures the gzipped bundle that Vite makes of each row. */
export async function viteSizes(): Promise<readonly Size[]> {
  const bytesOf = async (files: readonly string[]) =>
    (await bundled(files.map((file) => `${file}.ts`))).bytes;
  return Promise.all(
    ROWS.map(async (row) => {
      const { file, beside } = row;
      const bytes =
        beside === undefined
          ? await bytesOf([file])
          : (await bytesOf([beside, file])) - (await bytesOf([beside]));
      return { ...row, kilobytes: bytes / 1_000 };
    }),
  );
}

/** Bundles these files of `src` by Vite, like an app that uses all of their exports. */
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
