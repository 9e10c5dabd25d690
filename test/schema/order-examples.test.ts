import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const FOLDERS = '{docs,examples/*/src,graphiql/page}/**/*.{md,js,ts,tsx}';
const FILES = ['README.md', ...globSync(FOLDERS, { exclude: ['**/gql/**'] })];
// The documents and forms of a guide, and of the page, are files of one app.
const GUIDES = [...globSync('examples/guides/*/src'), 'page/src'].map((folder) =>
  globSync(`${folder}/**/*.ts*`).sort(),
);
const textOf = (files: readonly string[]) =>
  files.map((file) => readFileSync(file, 'utf8')).join('\n');
const EXAMPLES = [...FILES.map((file) => [file]), ...GUIDES].flatMap((files) => {
  const text = textOf(files);
  return /placeOrder\(input: (?!\{ …)/.test(text) ? [{ place: files.join(), text }] : [];
});

test('there are examples of placeOrder', () => {
  expect(EXAMPLES.length).toBeGreaterThan(6);
});

test.each(EXAMPLES)('each example of placeOrder in $place sends kind', ({ text }) => {
  const inline = text.matchAll(/placeOrder\(\s*input: \{(?! …)[\s\S]*?idempotencyKey/g);
  for (const [example] of inline) expect(example).toMatch(/kind: (MARKET|PENDING)/);
  if (/placeOrder\(input: \$input\)/.test(text)) {
    expect(text).toMatch(/"?kind"?\s*[:=]\s*\S*(MARKET|PENDING|market)|kind: 'MARKET'/);
  }
});
