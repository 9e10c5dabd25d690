import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type InputOptions, rolldown } from 'rolldown';
import { expect, test } from 'vitest';
import { exampleWeight } from '../support/example-weight.ts';

const client = join(import.meta.dirname, '..', '..');
const source = join(client, 'src');
const ENTRY = 'all-entries';

/** One bundle of these entries together, as an app has it that uses them all. */
async function bundled(entries: readonly string[], options: InputOptions = {}) {
  const code = entries.map((entry) => `export * from ${JSON.stringify(join(source, entry))};`);
  const bundle = await rolldown({
    input: ENTRY,
    platform: 'browser',
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
      .map((id) => id.split('/src/').at(-1) ?? ''),
  };
}

test.each([
  ['requests.ts', 'tokens and requests alone', 6_000],
  ['create-core.ts', 'the core', 10_250],
  ['create-client.ts', 'a client with all of it', 26_000],
])('%s: %s take less than %i B, gzipped', async (entry, _what, bytes) => {
  expect((await bundled([entry])).bytes).toBeLessThan(bytes);
});

test.each([
  ['live/positions.ts', 'positions', 2_300],
  ['live/account.ts', 'the account', 3_100],
  ['orders/create-orders.ts', 'orders', 5_000],
  ['catalog/replica.ts', 'the catalog', 6_400],
])('%s: %s add less than %i B to the core, gzipped', async (entry, _what, bytes) => {
  const core = await bundled(['create-core.ts']);
  const both = await bundled(['create-core.ts', entry]);
  expect(both.bytes - core.bytes).toBeLessThan(bytes);
  // A file of types alone would add nothing.
  expect(both.bytes - core.bytes).toBeGreaterThan(bytes / 2);
});

test("the README names what the example app's Vite build has of the client", async () => {
  const readme = readFileSync(join(client, 'README.md'), 'utf8');
  const [, kilobytes] = /takes ([\d.]+) kB gzipped in the Vite build/.exec(readme) ?? [];
  const bytes = await exampleWeight();
  console.log(`${bytes} B`);
  expect(Math.abs(Number(kilobytes) * 1_000 - bytes)).toBeLessThan(200);
});

test('the hooks alone take less than 3 kB, gzipped', async () => {
  const { bytes, modules } = await bundled(['react.ts'], { external: ['react'] });
  expect(modules.filter((id) => id.includes('create-client'))).toEqual([]);
  expect(bytes).toBeLessThan(3_000);
});

// As Metro packs them: whole modules, whether or not something of them is used.
test.each([
  ['requests.ts', 'subscriptions or features', /subscribe|orders|catalog|live|browser/],
  ['core-client.ts', 'features', /orders|catalog|live|generated/],
  ['live.ts', 'the core or other features', /core|orders|catalog|subscribe/],
  ['orders.ts', 'the core or other features', /core|catalog|live|generated/],
  ['catalog.ts', 'the core or other features', /core|orders|live|subscribe/],
  ['schema.ts', 'anything that does something', /^(?!schema|generated)/],
  ['react.ts', 'what its hooks are for', /core|orders|catalog\/|subscribe/],
  ['index.ts', 'React and Apollo Client', /react|apollo|type-policies/],
])('%s has nothing for %s in the bundle', async (entry, _what, others) => {
  const { modules } = await bundled([entry], { external: ['react'], treeshake: false });
  const own = modules.filter((id) => id !== ENTRY);
  expect(own).toContain(entry);
  expect(own.filter((id) => others.test(id))).toEqual([]);
});
