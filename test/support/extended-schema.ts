import { extendSchema, type GraphQLSchema, isObjectType, parse } from 'graphql';
import type { Context } from '../../src/schema/context.ts';
import { buildSchema } from '../../src/schema/schema.ts';

/** Reads the value of an added field. */
type ReadAdded = (context: Context) => unknown;

/** The service's schema, with each of these fields as a text on each of these types. */
export function extendedSchema(
  owners: readonly string[],
  fields: Readonly<Record<string, ReadAdded>>,
): GraphQLSchema {
  const added = Object.keys(fields).map((name) => `${name}: String`);
  const extensions = owners.map((owner) => `extend type ${owner} { ${added.join(' ')} }`);
  const schema = extendSchema(buildSchema(), parse(extensions.join('\n')));
  for (const owner of owners) {
    const type = schema.getType(owner);
    for (const [name, read] of Object.entries(fields)) {
      const field = isObjectType(type) ? type.getFields()[name] : undefined;
      if (!field) throw new Error(`${owner}.${name} is missing`);
      field.resolve = (_source, _args, context: Context) => read(context);
    }
  }
  return schema;
}
