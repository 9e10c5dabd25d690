/**
 * Packs the page's code and the client into the one file that the service serves: `npm run docs`, after a change of `page/`
 * or `client/`. The file is kept in the repository, like GraphiQL's, so that a start needs no build.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { rolldown } from 'rolldown';

export const PACKED = join(import.meta.dirname, 'bundle', 'page.js.br');

export async function bundlePage(): Promise<string> {
  const bundle = await rolldown({
    input: join(import.meta.dirname, 'src', 'main.ts'),
    platform: 'browser',
    onLog(level, { message }) {
      if (level === 'warn') throw new Error(message);
    },
  });
  const { output } = await bundle.generate({ minify: true });
  await bundle.close();
  const [{ code }, ...others] = output;
  if (others.length > 0) throw new Error('The page is more than one file.');
  return code;
}

if (import.meta.main) {
  const code = await bundlePage();
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  const packed = brotliCompressSync(code, { params });
  mkdirSync(join(PACKED, '..'), { recursive: true });
  writeFileSync(PACKED, packed);
  console.log(`${PACKED}: ${code.length} bytes, ${packed.length} packed`);
}
