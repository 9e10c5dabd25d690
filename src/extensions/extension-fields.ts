import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLSchema,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import type { FieldTraits } from '../../engine/field-traits.ts';
import type { Context } from '../schema/context.ts';
import type { FieldOptions, Kit } from './kit.ts';
import { ResolverContext } from './resolver-context.ts';
import { createSharedValues } from './shared-values.ts';

type Field = GraphQLField<unknown, Context>;

/** The options of a field that the kit gives, as Pothos keeps them. */
interface Given {
  readonly extensionListSize?: { readonly most: number; readonly argument?: string };
  readonly extensionSharedSeconds?: number;
}

export function listSize(given: Parameters<Kit['listSize']>[0]): FieldOptions {
  const size = typeof given === 'number' ? { most: given } : given;
  const { most } = size;
  if (!(Number.isInteger(most) && most > 0)) throw new Error(`listSize(${most}): no whole number`);
  return { extensionListSize: size } satisfies Given;
}

export function shared({ seconds }: { readonly seconds: number }): FieldOptions {
  if (!(seconds > 0)) throw new Error(`shared({ seconds: ${seconds} }): no time`);
  return { extensionSharedSeconds: seconds } satisfies Given;
}

/** Names every field of the schema, as `Type.field`. */
export function fieldNames(schema: GraphQLSchema): ReadonlySet<string> {
  return new Set(fieldsOf(schema).map(([name]) => name));
}

/**
 * Confines the fields that extensions have added: their resolvers get a ResolverContext, they are the viewer's own whatever
 * they say, and no subscription may select them, since each would be resolved for each event and subscriber.
 */
export function confine(schema: GraphQLSchema, own: ReadonlySet<string>): void {
  const sharedValue = createSharedValues();
  const ownTypes = new Set([...own].map((name) => name.slice(0, name.indexOf('.'))));
  for (const [name, field, typeName] of fieldsOf(schema)) {
    if (own.has(name)) continue;
    if (typeName === 'Subscription') throw new Error(`${name}: extensions add no subscriptions`);
    const { extensionListSize: size, extensionSharedSeconds: seconds } = givenOf(field);
    if (seconds !== undefined && typeName !== 'Query' && typeName !== 'Instrument') {
      throw new Error(`${name}: only fields of Query and Instrument can be shared`);
    }
    const argument = size?.argument;
    if (argument !== undefined && !field.args.some((each) => each.name === argument)) {
      throw new Error(
        `${name}: listSize names an argument ${argument} that the field does not have`,
      );
    }
    const resolve = field.resolve ?? defaultFieldResolver;
    const traits: FieldTraits = {
      // No other way leads to the types of extensions.
      notInSubscriptions: ownTypes.has(typeName),
      ...(size && { listSize: size.most }),
      ...(argument !== undefined && { sizeArgument: argument }),
    };
    field.extensions = traits as typeof field.extensions;
    field.resolve = (source, args, context, info) => {
      const run = () =>
        resolve(source, args, new ResolverContext(context, seconds !== undefined) as never, info);
      // What is read for a write's result is read after it.
      if (typeName === 'Mutation') return context.write(async () => run(), String(info.path.key));
      return seconds === undefined ? run() : sharedValue(name, source, args, seconds, run);
    };
  }
}

function givenOf({ extensions }: Field): Given {
  return (extensions.pothosOptions ?? {}) as Given;
}

function fieldsOf(schema: GraphQLSchema): [name: string, field: Field, typeName: string][] {
  return Object.values(schema.getTypeMap()).flatMap((type) =>
    (isObjectType(type) || isInterfaceType(type)) && !type.name.startsWith('__')
      ? Object.values(type.getFields()).map((field): [string, Field, string] => [
          `${type.name}.${field.name}`,
          field,
          type.name,
        ])
      : [],
  );
}
