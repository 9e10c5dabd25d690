import { extendSchema, type GraphQLSchema, isObjectType, parse } from 'graphql';
import type { Context } from '../../src/schema/context.ts';
import { buildSchema } from '../../src/schema/schema.ts';

/** Reads the value of an added field. */
export type ReadAdded = (context: Context) => unknown;

export const KINDS = ['Text', 'List', 'Object'] as const;
type Kind = (typeof KINDS)[number];

const SHAPES: Readonly<Record<Kind, (text: unknown) => unknown>> = {
  Text: (text) => text,
  List: (text) => [text],
  Object: (text) => ({ text }),
};

/** The selection of a field by its kind: `mineText`, `mineList`, `mineObject { text }`. */
export function selected(name: string, kind: Kind): string {
  return `${name}${kind}${kind === 'Object' ? ' { text }' : ''}`;
}

/** The service's schema, with each of these fields as a text, a list and an object on each of these types. */
export function extendedSchema(
  owners: readonly string[],
  fields: Readonly<Record<string, ReadAdded>>,
): GraphQLSchema {
  const names = Object.keys(fields);
  const types = names.map((name) => `type Added_${name} { text: String }`);
  const added = names.map(
    (name) => `${name}Text: String ${name}List: [String] ${name}Object: Added_${name}`,
  );
  const extensions = owners.map((owner) => `extend type ${owner} { ${added.join(' ')} }`);
  const schema = extendSchema(buildSchema(), parse([...types, ...extensions].join('\n')));
  for (const [name, read] of Object.entries(fields)) {
    for (const owner of owners) {
      for (const kind of KINDS) {
        const type = schema.getType(owner);
        const field = isObjectType(type) ? type.getFields()[`${name}${kind}`] : undefined;
        if (!field) throw new Error(`${owner}.${name}${kind} is missing`);
        field.resolve = resolverOf(read, SHAPES[kind]);
      }
    }
  }
  return schema;
}

function resolverOf(read: ReadAdded, shape: (text: unknown) => unknown) {
  return (_source: unknown, _args: unknown, context: Context): unknown => {
    const text = read(context);
    return text instanceof Promise ? text.then(shape) : shape(text);
  };
}
