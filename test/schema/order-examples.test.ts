import { globSync, readFileSync } from 'node:fs';
import { GraphQLObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { buildSchema } from '../../src/schema/schema.ts';
import { UNSENT_REASONS } from '../../src/store/order-records.ts';

const FOLDERS = '{docs,examples/*/src,src/graphiql/page}/**/*.{md,js,ts,tsx}';
const FILES = ['README.md', ...globSync(FOLDERS)];
const textOf = (files: readonly string[]) =>
  files.map((file) => readFileSync(file, 'utf8')).join('\n');
// `{ …` stands for an input that a page leaves out.
const EXAMPLES = FILES.flatMap((place) => {
  const text = textOf([place]);
  return /placeOrder\(\s*input: (?!\{ …)/.test(text) ? [{ place, text }] : [];
});

test('there are examples of placeOrder', () => {
  expect(EXAMPLES.length).toBeGreaterThan(2);
});

test.each(EXAMPLES)('each example of placeOrder in $place sends kind', ({ text }) => {
  const inline = text.matchAll(/placeOrder\(\s*input: \{(?! …)[\s\S]*?idempotencyKey/g);
  for (const [example] of inline) expect(example).toMatch(/kind: (MARKET|PENDING)/);
  // An example with a variable sets `kind` anywhere else in the file.
  if (/placeOrder\(input: \$input\)/.test(text)) {
    expect(text).toMatch(/"?kind"?\s*[:=]\s*\S*(MARKET|PENDING|market)|kind: 'MARKET'/);
  }
});

test('each reason of an unsent order is documented', () => {
  const rejected = buildSchema().getType('OrderRejected');
  const { sent } = rejected instanceof GraphQLObjectType ? rejected.getFields() : {};
  const places = ['docs/orders.md', 'client/src/errors.ts', 'client/src/orders/outcome.ts'];
  for (const text of [...places.map((place) => textOf([place])), sent?.description])
    for (const reason of UNSENT_REASONS) expect(text).toMatch(new RegExp(`\\b${reason}\\b`));
});
