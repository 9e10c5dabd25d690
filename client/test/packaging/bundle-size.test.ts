import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { bundled } from '../support/bundled.ts';
import { namedSizes, README, viteSizes } from '../support/client-sizes.ts';
import { exampleWeight } from '../support/example-weight.ts';

test.each([
  ['requests.ts', 'tokens and requests alone', 6_700],
  ['create-core.ts', 'the core', 11_100],
  ['create-client.ts', 'a client with all of it', 27_300],
])('%s: %s take less than %i B, gzipped', async (entry, _what, bytes) => {
  expect((await bundled([entry])).bytes).toBeLessThan(bytes);
});

test('the README names what each entry takes of a Vite build', async () => {
  const measured = await viteSizes();
  const named = namedSizes('Vite');
  expect(named.map(({ what }) => what)).toEqual(measured.map(({ what }) => what));
  for (const [at, { what, bytes }] of measured.entries()) {
    expect(Math.abs((named[at]?.bytes ?? 0) - bytes), `${what}: ${bytes} B`).toBeLessThan(200);
  }
});

test("the README names what the example app's Vite build has of the client", async () => {
  const readme = readFileSync(README, 'utf8');
  const [, kilobytes] = /takes ([\d.]+) kB gzipped in the Vite build/.exec(readme) ?? [];
  const bytes = await exampleWeight();
  console.log(`${bytes} B`);
  expect(Math.abs(Number(kilobytes) * 1_000 - bytes)).toBeLessThan(200);
});

test('the hooks alone take less than 3 kB, gzipped', async () => {
  const { bytes, modules } = await bundled(['react.ts']);
  expect(modules.filter((id) => id.includes('create-client'))).toEqual([]);
  expect(bytes).toBeLessThan(3_000);
});

// As Metro packs them: whole modules, whether or not something of them is used.
test.each([
  ['requests.ts', 'subscriptions or features', /subscribe|orders|catalog|live|browser/],
  // Each client repeats what the schema calls harmless.
  ['core-client.ts', 'features', /orders|catalog|live|generated\/(?!harmless)/],
  ['live.ts', 'the core or other features', /core|orders|catalog|subscribe/],
  ['orders.ts', 'the core or other features', /core|catalog|live|generated/],
  ['catalog.ts', 'the core or other features', /core|orders|live|subscribe/],
  ['schema.ts', 'anything that does something', /^(?!schema|generated)/],
  ['react.ts', 'what its hooks are for', /core|orders|catalog\/|subscribe/],
  ['index.ts', 'React and Apollo Client', /react|apollo|type-policies/],
])('%s has nothing for %s in the bundle', async (entry, _what, others) => {
  const { modules } = await bundled([entry], { treeshake: false });
  expect(modules).toContain(entry);
  expect(modules.filter((id) => others.test(id))).toEqual([]);
});
