import { expect, test } from 'vitest';
import { bundled, viteSizes } from '../support/client-sizes.ts';

test('no entry takes more kilobytes of a Vite build than its maximum', async () => {
  for (const { file, kilobytes, maxKilobytes } of await viteSizes())
    expect(kilobytes, file).toBeLessThan(maxKilobytes);
});

// Metro packs whole modules, used or not.
test.each([
  ['requests.ts', 'subscriptions or features', /subscribe|orders|live|browser/],
  ['core-client.ts', 'features', /orders|live|generated/],
  ['live.ts', 'the core or other features', /core|orders|subscribe/],
  ['orders.ts', 'the core or other features', /core|live|generated/],
  ['follow.ts', 'the core or other features', /core|orders|subscribe\//],
  [
    'schema.ts',
    'any other part of the client',
    /^(?!schema|generated|account-end|cache|execution|fo|fire)/,
  ],
  ['react.ts', 'the features that its hooks need', /core|orders|subscribe/],
  ['index.ts', 'React or Apollo Client', /react|apollo|type-policies/],
])('%s adds no module of %s to the bundle', async (entry, _what, others) => {
  const { modules } = await bundled([entry], { treeshake: false });
  expect(modules).toContain(entry);
  expect(modules.filter((id) => others.test(id))).toEqual([]);
});
