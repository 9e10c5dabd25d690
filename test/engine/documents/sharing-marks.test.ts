import {
  buildSchema,
  isIntrospectionType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { createListSizes } from '../../../engine/cost/list-sizes.ts';
import { factsOf } from '../../../engine/documents/operation-facts.ts';
import { Selections } from '../../../engine/documents/selections.ts';

const schema = buildSchema(`
  type Query { node: Node any: Any cat: Cat dog: Dog plain: Int }
  interface Node { name: String next: Node }
  union Any = Cat | Dog
  type Cat implements Node { name: String next: Node lives: Int }
  type Dog implements Node { name: String next: Node owner: String age: Int }
`);

/** The fields without a mark are the viewer's. */
const MARKS: Readonly<Record<string, string>> = {
  'Query.node': 'group',
  'Query.any': 'group',
  'Query.cat': 'group',
  'Query.dog': 'group',
  'Cat.name': 'group',
  'Cat.next': 'group',
  'Cat.lives': 'copy',
  'Dog.next': 'group',
  'Dog.age': 'account',
};

for (const type of Object.values(schema.getTypeMap())) {
  if (!isObjectType(type) || isIntrospectionType(type)) continue;
  for (const field of Object.values(type.getFields())) {
    const sharing = MARKS[`${type.name}.${field.name}`];
    Object.assign(field, { extensions: sharing ? { sharing } : {} });
  }
}

function marks(text: string): string[] | null {
  const document = parse(text);
  const operation = document.definitions.find(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  const selections = new Selections(schema, document);
  const found = factsOf(selections, operation as OperationDefinitionNode, createListSizes(schema));
  return found.marks && [...found.marks].sort();
}

describe('the marks of an operation are those of all its fields', () => {
  test.each<readonly [string, readonly string[]]>([
    ['{ __typename }', []],
    ['{ cat { __typename } }', ['group']],
    ['{ cat { name lives } }', ['copy', 'group']],
    ['{ cat { name } dog { age } }', ['account', 'group']],
    ['{ any { __typename ... on Cat { name } } }', ['group']],
    ['{ node { next { ... on Cat { lives } } } }', ['copy', 'group']],
    [
      '{ ...A } fragment A on Query { cat { ...B } } fragment B on Cat { lives }',
      ['copy', 'group'],
    ],
    ['query ($x: Boolean!) { cat { name lives @include(if: $x) } }', ['copy', 'group']],
    ['{ cat { name lives @include(if: false) } }', ['group']],
  ])('%s', (text, expected) => {
    expect(marks(text)).toEqual(expected);
  });
});

describe('there are none where a field may be the viewer’s', () => {
  test.each([
    ['at the root', '{ cat { name } plain }'],
    ['below', '{ dog { owner } }'],
    ['beside what is the same for all', '{ dog { next { __typename } owner age } }'],
    ['in one of the types behind an interface', '{ node { name } }'],
    ['behind an interface, further down', '{ node { next { next { name } } } }'],
    ['in a fragment on the interface', '{ any { ... on Node { name } } }'],
    ['in a fragment on one type', '{ any { ... on Dog { owner } } }'],
    [
      'in a fragment without a type',
      'query ($x: Boolean!) { dog { ... @include(if: $x) { owner } } }',
    ],
    [
      'in a fragment that is used twice',
      '{ cat { ...N } node { ...N } } fragment N on Node { name }',
    ],
    ['behind another name', '{ dog { name: owner } }'],
    ['in introspection', '{ cat { name } __schema { description } }'],
  ])('%s', (_where, text) => {
    expect(marks(text)).toBeNull();
  });
});
