import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fingerprint } from '../../graphiql/fingerprint.ts';

const BUNDLE = join(import.meta.dirname, '..', '..', 'graphiql', 'bundle');

test('the files of GraphiQL are made from what stands in graphiql/; else run `npm run docs -- graphiql`', () => {
  expect(readFileSync(join(BUNDLE, 'made-from.txt'), 'utf8').trim()).toBe(fingerprint());
});
