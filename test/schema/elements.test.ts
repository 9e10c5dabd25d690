import { type FieldDefinitionNode, Kind, parse, visit } from 'graphql';
import { expect, test } from 'vitest';
import { exposed, type FieldBuilder } from '../../src/schema/builder.ts';
import { buildSchema, printedSchema } from '../../src/schema/schema.ts';

/** Every kind of element of the schema that a client can name. */
const NAMED: ReadonlySet<string> = new Set([
  Kind.OBJECT_TYPE_DEFINITION,
  Kind.INTERFACE_TYPE_DEFINITION,
  Kind.UNION_TYPE_DEFINITION,
  Kind.ENUM_TYPE_DEFINITION,
  Kind.ENUM_VALUE_DEFINITION,
  Kind.SCALAR_TYPE_DEFINITION,
  Kind.INPUT_OBJECT_TYPE_DEFINITION,
  Kind.FIELD_DEFINITION,
  Kind.INPUT_VALUE_DEFINITION,
]);

test('every element of the schema has a description that ends in a full stop', () => {
  const odd: unknown[] = [];
  let count = 0;
  visit(parse(printedSchema(buildSchema())), {
    enter(node) {
      if (node.kind === Kind.DIRECTIVE_DEFINITION) return false;
      if (!NAMED.has(node.kind)) return;
      count += 1;
      const { name, description } = node as FieldDefinitionNode;
      const isSentence = /\S\.$/.test(description?.value ?? '');
      if (!isSentence) odd.push([name.value, description?.value]);
    },
  });
  expect(count).toBeGreaterThan(200);
  expect(odd).toEqual([]);
});

test('every root field of a query or a mutation is nullable, so that a failing field does not affect the others', () => {
  const schema = buildSchema();
  for (const root of [schema.getQueryType(), schema.getMutationType()]) {
    const fields = Object.values(root?.getFields() ?? {});
    expect(fields.length).toBeGreaterThan(8);
    for (const { name, type } of fields) expect(String(type), name).not.toMatch(/!$/);
  }
});

test('an exposed field may be deprecated', () => {
  const t = { expose: (_: string, options: object) => options };
  const deprecated = { description: 'Its gain.', deprecationReason: 'Use `profit`.' };
  const fields = exposed(t as unknown as FieldBuilder<{ gain: number; profit: number }>, {
    Float: { gain: deprecated },
    'Float!': { profit: 'Its profit.' },
  });
  expect(fields).toEqual({
    gain: { type: 'Float', nullable: true, ...deprecated },
    profit: { type: 'Float', nullable: false, description: 'Its profit.' },
  });
});
