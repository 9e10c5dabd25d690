import {
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
} from 'graphql';
import { expect, test } from 'vitest';
import { traitOf } from '../../engine/field-traits.ts';
import { buildSchema } from '../../src/schema/schema.ts';

const types = Object.values(buildSchema().getTypeMap()).filter(
  (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
);

/** Every element of the graph that a client can name, with what is said about it. */
function* elements(): Generator<{ name: string; description: string | null | undefined }> {
  for (const type of types) {
    yield { name: type.name, description: type.description };
    yield* membersOf(type);
  }
}

function* membersOf(type: GraphQLNamedType) {
  if (isEnumType(type)) {
    for (const { name, description } of type.getValues()) {
      yield { name: `${type.name}.${name}`, description };
    }
  }
  if (isInputObjectType(type)) {
    for (const field of Object.values(type.getFields())) {
      yield { name: `${type.name}.${field.name}`, description: field.description };
    }
  }
  if (!isObjectType(type) && !isInterfaceType(type)) return;
  for (const field of Object.values(type.getFields())) {
    yield { name: `${type.name}.${field.name}`, description: field.description };
    for (const { name, description } of field.args) {
      yield { name: `${type.name}.${field.name}(${name}:)`, description };
    }
  }
}

test('every type, field, argument, value and input field says what it is', () => {
  const silent = [...elements()].filter(({ description }) => !description?.trim());
  expect(silent.map(({ name }) => name)).toEqual([]);
});

test('a description is a sentence', () => {
  const odd = [...elements()].filter(({ description }) => !/\.$/.test(description ?? ''));
  expect(odd.map(({ name, description }) => `${name}: ${description}`)).toEqual([]);
});

test('every root query field is nullable, so that one failing read leaves the others standing', () => {
  const fields = Object.values(buildSchema().getQueryType()?.getFields() ?? {});
  expect(fields.length).toBeGreaterThan(8);
  for (const { name, type } of fields) expect(String(type), name).not.toMatch(/!$/);
});

test('age limits stand at fields of the root, where operations are searched for them', () => {
  const found = types
    .filter((type) => isObjectType(type) || isInterfaceType(type))
    .flatMap((type) =>
      Object.values(type.getFields()).flatMap(({ name, args }) =>
        args
          .filter((arg) => traitOf(arg, 'isAgeLimit') || arg.name === 'maxAge')
          .map((arg) => `${type.name}.${name}(${arg.name}) ${traitOf(arg, 'isAgeLimit') === true}`),
      ),
    );
  expect(found.sort()).toEqual(['Query.orders(maxAge) true', 'Query.session(maxAge) true']);
});
