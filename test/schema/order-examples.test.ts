import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const FOLDERS = '{docs,examples/{*,guides/*}/src,graphiql/page,page/src}/**/*.{md,js,ts,tsx}';
const EXAMPLES = ['README.md', ...globSync(FOLDERS, { exclude: ['**/gql/**'] })].filter((path) =>
  /placeOrder\(input: (?!\{ …)/.test(readFileSync(path, 'utf8')),
);

test('there are examples of placeOrder', () => {
  expect(EXAMPLES.length).toBeGreaterThan(6);
});

test.each(EXAMPLES)('each example of placeOrder in %s sends kind', (path) => {
  const text = readFileSync(path, 'utf8');
  const inline = text.matchAll(/placeOrder\(\s*input: \{(?! …)[\s\S]*?idempotencyKey/g);
  for (const [example] of inline) expect(example).toMatch(/kind: (MARKET|PENDING)/);
  if (/placeOrder\(input: \$input\)/.test(text)) {
    expect(text).toMatch(/"?kind"?\s*[:=]\s*\S*(MARKET|PENDING|market)|kind: 'MARKET'/);
  }
});
