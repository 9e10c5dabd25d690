import { buildSchema as parseSchema } from 'graphql';
import { expect, test } from 'vitest';
import { reportOn, type ValidDocument } from '../../../check/documents/document-report.ts';
import { createExecutors, Documents } from '../../../engine/index.ts';
import { sizeOf } from '../../../src/schema/list-sizes.ts';

const usual = (name: string) => sizeOf(name, () => 0);

const schema = parseSchema(`
  interface Named { name: String old: String @deprecated(reason: "Ask for name.") }
  type Cat implements Named { name: String old: String @deprecated(reason: "Ask for name.") lives: Int }
  type Dog implements Named { name: String old: String tail: Boolean }
  type CatConnection { nodes: [Cat] }
  enum Mood { CALM ANGRY @deprecated(reason: "None is.") }
  input Filter { mood: Mood colour: String @deprecated(reason: "Cats are grey at night.") }
  type Query {
    pet(filter: Filter, id: ID @deprecated(reason: "There is one.")): Named
    cats(first: Int, last: Int): CatConnection
  }
`);

function report(text: string): ValidDocument {
  const documents = new Documents({
    schema,
    limits: { maxTokens: 1_000, maxDepth: 10, maxAliases: 10, maxDirectives: 30 },
    introspection: true,
    executors: createExecutors(schema),
  });
  const result = reportOn('id', text, { schema, documents, sizeOf: usual });
  if (!result.valid) throw new Error(result.errors.map(({ message }) => message).join());
  return result;
}

test('all that is deprecated is named with its reason, wherever a document uses it', () => {
  const { deprecated } = report(
    '{ pet(id: 1, filter: { mood: ANGRY, colour: "red" }) { old ... on Cat { old name } ... on Dog { old } } }',
  );
  expect(deprecated).toEqual({
    'Query.pet(id:)': 'There is one.',
    'Filter.colour': 'Cats are grey at night.',
    'Mood.ANGRY': 'None is.',
    'Named.old': 'Ask for name.',
    'Cat.old': 'Ask for name.',
  });
});

test('a field of an interface is one of its types as well', () => {
  expect(
    [...report('{ __typename pet { name ...more } } fragment more on Cat { lives }').fields].sort(),
  ).toEqual(['Cat.lives', 'Cat.name', 'Dog.name', 'Named.name', 'Query.pet']);
});

test('a page that a variable sizes costs its default, and at most the largest page', () => {
  const cost = (text: string) => {
    const { cost, mostCost } = report(text).operations[0] ?? {};
    return [cost, mostCost];
  };
  // The connection, its nodes, and the name of each.
  expect(cost('{ cats(first: 3) { nodes { name } } }')).toEqual([5, 5]);
  expect(cost('query ($n: Int) { cats(first: $n) { nodes { name } } }')).toEqual([52, 502]);
  expect(cost('query ($n: Int = 7) { cats(first: $n) { nodes { name } } }')).toEqual([9, 502]);
});

test('what a flag may select counts in', () => {
  const cost = (text: string) => report(text).operations[0]?.cost;
  const twenty = '{ cats(first: 20) { nodes { name } } }';
  expect(cost(`query ($a: Boolean!) { pet @include(if: $a) { name old } }`)).toBe(3);
  expect(cost(`query ($a: Boolean!) { pet @skip(if: $a) { name old } }`)).toBe(3);
  // One of the two is selected, never both: the costlier counts.
  const either = (left: string, right: string) =>
    `query ($a: Boolean!) { ... @include(if: $a) ${left} ... @skip(if: $a) ${right} }`;
  expect(cost(either(twenty, '{ pet { name } }'))).toBe(22);
  expect(cost(either('{ pet { name } }', twenty))).toBe(22);
});
