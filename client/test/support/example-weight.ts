import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { clientSources } from './client-sources.ts';
import { inNodeEnvironment } from './example-app.ts';

const root = join(import.meta.dirname, '..', '..', '..');

/** What the client takes of the example app's Vite build: bytes, gzipped as a chunk of its own. */
export async function exampleWeight(): Promise<number> {
  const built = await inNodeEnvironment('production', () =>
    build({
      root: join(root, 'examples', 'react'),
      configLoader: 'native',
      logLevel: 'warn',
      plugins: [{ ...clientSources(), enforce: 'pre' }],
      resolve: { dedupe: ['react', 'react-dom'] },
      build: {
        write: false,
        rolldownOptions: {
          output: {
            codeSplitting: {
              groups: [{ name: 'client', test: /\/client\/src\// }],
            },
          },
        },
      },
    }),
  );
  if (!('output' in built)) throw new Error('Vite has built no app');
  const own = built.output.filter((file) => file.type === 'chunk' && file.name === 'client');
  const [chunk] = own;
  if (own.length !== 1 || chunk?.type !== 'chunk') throw new Error('there is no chunk of it');
  return gzipSync(chunk.code).length;
}
