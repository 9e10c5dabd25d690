import { expect, test } from 'vitest';
import { buildSchema } from '../../../src/schema/schema.ts';
import { factsIn, schemaOf } from '../schema-of.ts';

/**
 * Marks a field with the users who see the same value: `group`, `account`, or `copy`, which is the group too, but differs
 * with time. A field without a mark is the viewer's own.
 */
const marked = (sharing: string) => ({ extensions: { sharing } });

const schema = schemaOf(
  `type Query { node: Node any: Any cat: Cat dog: Dog plain: Int }
  interface Node { name: String next: Node }
  union Any = Cat | Dog
  type Cat implements Node { name: String next: Node lives: Int }
  type Dog implements Node { name: String next: Node owner: String age: Int }
  type Mutation { cat: Cat }`,
  {
    'Query.node': marked('group'),
    'Query.any': marked('group'),
    'Query.cat': marked('group'),
    'Query.dog': marked('group'),
    'Mutation.cat': marked('group'),
    'Cat.name': marked('group'),
    'Cat.next': marked('group'),
    'Cat.lives': marked('copy'),
    'Dog.next': marked('group'),
    'Dog.age': marked('account'),
  },
);

// Each expected value is null if the answer is not shared. Otherwise it is whether the answer contains its time.
test.each([
  ['{ cat { __typename } }', false],
  ['{ cat { name lives } }', true],
  ['{ cat { name } dog { age } }', null],
  ['{ any { __typename ... on Cat { lives } } }', true],
  ['{ node { next { ... on Cat { lives } } } }', true],
  ['{ ...A } fragment A on Query { cat { ...B } } fragment B on Cat { lives }', true],
  ['query ($x: Boolean!) { cat { name lives @include(if: $x) } }', true],
  ['{ cat { name lives @include(if: false) } }', false],
])(
  'the marks of all fields decide whether an answer is shared, and whether it contains its time: %s',
  (text, expected) => {
    expect(factsIn(schema, text).sharedUse?.selectsTime ?? null).toBe(expected);
  },
);

test.each([
  ['at the root', '{ cat { name } plain }'],
  ['next to fields that are the same for all', '{ dog { next { __typename } owner age } }'],
  ['in one of the types of an interface', '{ node { name } }'],
  ['below an interface', '{ node { next { next { name } } } }'],
  ['in a fragment on the interface', '{ any { ... on Node { name } } }'],
  ['in a fragment on one type', '{ any { ... on Dog { owner } } }'],
  ['in a condition', 'query ($x: Boolean!) { dog { ... @include(if: $x) { owner } } }'],
  ['in a fragment used twice', '{ cat { ...N } node { ...N } } fragment N on Node { name }'],
  ['under an alias', '{ dog { name: owner } }'],
  ['in introspection', '{ cat { name } __schema { description } }'],
])('an answer is not shared if a field may be the viewer’s: %s', (_where, text) => {
  expect(factsIn(schema, text).sharedUse).toBeNull();
});

test('no answer is shared of a mutation, of a query of only type names, or with data of an account', () => {
  const texts = ['mutation { cat { name } }', '{ __typename }', '{ dog { age } }'];
  expect(texts.map((text) => factsIn(schema, text).sharedUse)).toEqual([null, null, null]);
});

test('a subscription is not shared if a variable is an argument in only one of its types', () => {
  const inAny = schemaOf(
    'type Query { none: Int } type Subscription { any: Any } union Any = A | B type A { x(n: Int): Int } type B { x(n: Int): Int }',
    { 'Subscription.any': marked('account'), 'A.x': marked('account'), 'B.x': marked('account') },
  );
  const sharedBy = (n: string) =>
    factsIn(
      inAny,
      `subscription S($n: Int) { any { ... on A { x(n: 1) } ... on B { x(n: ${n}) } } }`,
    ).sharedUse;
  expect(sharedBy('2')).not.toBeNull();
  expect(sharedBy('$n')).toBeNull();
});

test.each([
  ['{ catalog { version } }', false],
  ['{ a: instrument(id: "A") { id swap { long } } __typename }', false],
  ['{ ... on Query { catalog { changes(since: "x") { upserted { id } removed } } } }', false],
  ['{ catalog { ageSeconds } }', true],
  ['{ catalog { ...F } } fragment F on Catalog { when: fetchedAt }', true],
  ['{ catalog { expiresAt } }', true],
  ['{ catalog { ... { stale } } instrument(id: "A") { id } }', true],
  ['{ catalog { version } customerId }', null],
  ['{ instrument(id: "A") { id positions { id } } }', null],
  // Subscribers of an account share an event, unless variables or other fields affect it.
  ['subscription { positions { id } }', false],
  ['subscription { positions { instrument { name } } }', null],
  ['subscription S($x: Boolean!) { positions { id @include(if: $x) } }', null],
  ['subscription S($x: Int) { positions(intervalMs: $x) { id } }', false],
])(
  'the marks of the service’s schema decide whether an answer is shared, and whether it contains its time: %s',
  (text, expected) => {
    const { sharedUse } = factsIn(buildSchema(), text);
    expect(sharedUse?.selectsTime ?? null).toBe(expected);
  },
);
