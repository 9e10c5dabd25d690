import { readFileSync } from 'node:fs';
import {
  buildSchema,
  coerceInputValue,
  type GraphQLInputObjectType,
  type OperationTypeNode,
  parse,
  validate,
} from 'graphql';
import { expect, test } from 'vitest';
import { ArgumentValues } from '../../bench/support/hostile/argument-values.ts';
import { DocumentMaker } from '../../bench/support/hostile/document-maker.ts';
import { pathsOf, writeDocument } from '../../bench/support/hostile/draft.ts';
import { PLANS } from '../../bench/support/hostile/kinds.ts';
import { KNOWN_DOCUMENTS, knownWriter } from '../../bench/support/hostile/known-documents.ts';
import { createRandom } from '../../src/sandbox/random.ts';

const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));

/** A walk through documents, each made from the one before it. */
function walk(seed: string, operation: OperationTypeNode, steps = 250) {
  const random = createRandom(seed);
  const answer = { catalog: { version: 'v1' }, positions: [{ id: '7', symbol: 'EURUSD' }] };
  const values = new ArgumentValues(random, answer);
  const maker = new DocumentMaker({ schema, operation, random, values, introspects: false });
  let draft = maker.draft();
  return Array.from({ length: steps }, (_, step) => {
    if (step % 25 === 0) draft = maker.draft();
    else draft = step % 5 === 0 ? maker.shrink(draft) : maker.mutate(draft);
    const document = writeDocument(draft, { schema, operation, name: `Q${step}` });
    return { ...document, selections: pathsOf(draft).length };
  });
}

test.each(['query', 'subscription'] as const)(
  'every %s that is made up passes validation',
  (operation) => {
    for (const { text } of walk('valid', operation)) {
      expect(validate(schema, parse(text)), text).toEqual([]);
    }
  },
);

test.each(KNOWN_DOCUMENTS)('$name: it is still valid', ({ kind, ...known }) => {
  const document = parse(knownWriter(known)().text);
  expect(validate(schema, document)).toEqual([]);
  expect(document.definitions[0]).toMatchObject({ operation: PLANS[kind].operation });
});

test('the documents vary in fields, arguments and types', () => {
  const texts = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'].flatMap((seed) =>
    walk(seed, 'query', 200).map(({ text }) => text),
  );
  const all = texts.join('\n');
  for (const sign of [/\.\.\. on /, /\ba\d+: /, /since: "v1"/, /filter: /]) {
    expect(sign.test(all), String(sign)).toBe(true);
  }
  expect(all.includes('"EURUSD"')).toBe(true);
  expect(new Set(texts.map((text) => text.replace(/Q\d+/, ''))).size).toBeGreaterThan(400);
});

test('what is changed goes beyond what is made up at first: lists and texts grow', () => {
  const filter = schema.getType('InstrumentFilter') as GraphQLInputObjectType;
  const values = new ArgumentValues(createRandom('filters'), {});
  let value = values.make(filter, 'filter');
  const seen = Array.from({ length: 400 }, () => {
    value = values.near(value, filter, 'filter');
    return value as { ids?: string[]; search?: string };
  });
  expect(Math.max(...seen.map(({ ids = [] }) => ids.length))).toBeGreaterThan(20);
  expect(Math.max(...seen.map(({ search = '' }) => search.length))).toBeGreaterThan(400);
  for (const one of seen) {
    expect(coerceInputValue(one, filter), JSON.stringify(one)).toBeDefined();
  }
});

test('a name has an alias only where it comes again', () => {
  const selection = { on: 'Query', name: 'customerId', args: {}, below: [], times: 1 } as const;
  const write = (times: number) =>
    writeDocument(
      Array.from({ length: times }, () => selection),
      { schema, operation: 'query', name: 'Q' },
    ).text;
  expect(write(1)).toBe('query Q { customerId }');
  expect(write(3)).toBe('query Q { customerId a0: customerId a1: customerId }');
});

test('changes make a document larger more often than smaller', () => {
  const steps = walk('growth', 'query');
  const last = steps.filter((_, step) => step % 25 === 24).map(({ selections }) => selections);
  const first = steps.filter((_, step) => step % 25 === 0).map(({ selections }) => selections);
  expect(sum(last)).toBeGreaterThan(2 * sum(first));
});

test('the same seed makes up the same documents', () => {
  expect(walk('again', 'query', 60)).toEqual(walk('again', 'query', 60));
  expect(walk('again', 'query', 60)).not.toEqual(walk('other', 'query', 60));
});

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
