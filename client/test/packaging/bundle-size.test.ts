import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';

const source = join(import.meta.dirname, '..', '..', 'src');

async function bundled(entry: string, external: readonly string[] = []) {
  const bundle = await rolldown({
    input: join(source, entry),
    platform: 'browser',
    external: [...external],
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  const chunks = output.filter((part) => part.type === 'chunk');
  return {
    bytes: gzipSync(chunks.map(({ code }) => code).join('')).length,
    modules: chunks.flatMap(({ moduleIds }) => moduleIds),
  };
}

test('the core with graphql-ws takes less than 12.5 kB, gzipped', async () => {
  expect((await bundled('create-core.ts')).bytes).toBeLessThan(12_500);
});

test.each([
  ['requests.ts', 'tokens and requests alone', 6_300],
  ['live/positions.ts', 'positions, beside the core', 4_000],
  ['live/account.ts', 'the account, beside the core', 4_000],
  ['orders/create-orders.ts', 'orders, beside the core', 5_200],
  ['catalog/catalog.ts', 'the catalog, beside the core', 7_000],
  ['create-client.ts', 'a client with all of it', 26_500],
])('%s: %s take less than %i B, gzipped', async (entry, _what, bytes) => {
  expect((await bundled(entry)).bytes).toBeLessThan(bytes);
});

test('a client for requests has nothing of subscriptions in the bundle', async () => {
  const { modules } = await bundled('requests.ts');
  expect(
    modules.filter((id) =>
      /graphql-ws|subscribe|orders|catalog|live/.test(id.split('/src/').at(-1) ?? ''),
    ),
  ).toEqual([]);
});

test('who does not use React has nothing of it in the bundle', async () => {
  const { modules } = await bundled('index.ts');
  expect(modules.filter((id) => /react/.test(id.slice(source.length)))).toEqual([]);
});

test('the hooks alone take less than 3 kB, gzipped', async () => {
  const { bytes, modules } = await bundled('react.ts', ['react']);
  expect(modules.filter((id) => id.includes('create-client'))).toEqual([]);
  expect(bytes).toBeLessThan(3_000);
});

test("what is for Apollo Client is in nobody else's bundle", async () => {
  const bundle = await rolldown({ input: join(source, 'index.ts'), platform: 'browser' });
  const { output } = await bundle.generate({ format: 'esm' });
  await bundle.close();
  const modules = output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []));
  expect(modules.length).toBeGreaterThan(10);
  expect(modules.filter((id) => /apollo|type-policies/.test(id.slice(source.length)))).toEqual([]);
});
