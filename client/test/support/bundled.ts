import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type InputOptions, rolldown } from 'rolldown';

const source = join(import.meta.dirname, '..', '..', 'src');
const ENTRY = 'all-entries';

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
