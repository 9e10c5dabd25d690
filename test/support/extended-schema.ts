import { extendSchema, type GraphQLSchema, isObjectType, parse } from 'graphql';
import type { Sharing } from '../../src/lib/field-traits.ts';
import type { Context } from '../../src/schema/context.ts';
import { buildSchema } from '../../src/schema/schema.ts';

/** A field to add to types of the schema, once for each kind of value. */
export interface AddedField {
  readonly sharing: Sharing | null;
  /** By default the field is a plain property of its object. */
  readonly read?: (context: Context) => unknown;
}

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
  fields: Readonly<Record<string, AddedField>>,
): GraphQLSchema {
  const names = Object.keys(fields);
  const types = names.map((name) => `type Added_${name} { text: String }`);
  const added = names.map(
    (name) => `${name}Text: String ${name}List: [String] ${name}Object: Added_${name}`,
  );
  const extensions = owners.map((owner) => `extend type ${owner} { ${added.join(' ')} }`);
  const schema = extendSchema(buildSchema(), parse([...types, ...extensions].join('\n')));
  for (const [name, { sharing, read }] of Object.entries(fields)) {
    mark(schema, `Added_${name}`, 'text', { sharing });
    for (const owner of owners) {
      for (const kind of KINDS) {
        const resolve = read && resolverOf(read, SHAPES[kind]);
        mark(schema, owner, `${name}${kind}`, { sharing, ...(resolve && { resolve }) });
      }
    }
  }
  return schema;
}

interface Marked {
  readonly sharing: Sharing | null;
  readonly resolve?: (source: unknown, args: unknown, context: Context) => unknown;
}

function mark(
  schema: GraphQLSchema,
  owner: string,
  name: string,
  { sharing, resolve }: Marked,
): void {
  const type = schema.getType(owner);
  const field = isObjectType(type) ? type.getFields()[name] : undefined;
  if (!field) throw new Error(`${owner}.${name} is missing`);
  Object.assign(field, { extensions: sharing ? { sharing } : {}, ...(resolve && { resolve }) });
}

function resolverOf(read: (context: Context) => unknown, shape: (text: unknown) => unknown) {
  return (_source: unknown, _args: unknown, context: Context): unknown => {
    const text = read(context);
    return text instanceof Promise ? text.then(shape) : shape(text);
  };
}
