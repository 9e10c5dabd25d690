import { isEnumType, isObjectType, parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { schemaPage } from '../../graphiql/schema-page.ts';
import { buildSchema } from '../../src/schema/schema.ts';

const schema = buildSchema();
const page = schemaPage(schema, { hasService: true });

test('the reference has each type, field and value, with its description', () => {
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    if (isEnumType(type)) {
      for (const { name } of type.getValues()) expect(page).toContain(`\n- \`${name}\`: `);
    }
    if (!isObjectType(type)) continue;
    for (const { name, description } of Object.values(type.getFields())) {
      const text = (description ?? '').replace(/\s+/g, ' ').trim();
      expect(page, `${type.name}.${name}`).toContain(text);
    }
  }
});

test('each field of a root has an example that is valid', () => {
  const examples = [...page.matchAll(/```graphql\n([^`]+)\n```/g)].map(([, text = '']) => text);
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const names = roots.flatMap((root) => Object.keys(root?.getFields() ?? {}));
  expect(examples).toHaveLength(names.length);
  for (const example of examples) expect(validate(schema, parse(example)), example).toEqual([]);
});
