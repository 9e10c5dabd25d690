import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';

const source = join(import.meta.dirname, '..', '..', 'src');

async function gzippedBytes(entry: string): Promise<number> {
  const bundle = await rolldown({ input: join(source, entry), platform: 'browser' });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  return gzipSync(output.map((part) => (part.type === 'chunk' ? part.code : '')).join('')).length;
}

test('the core with graphql-ws takes less than 12 kB, gzipped', async () => {
  expect(await gzippedBytes('create-core.ts')).toBeLessThan(12_000);
});
