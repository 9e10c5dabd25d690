import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isNonNullType,
  isObjectType,
  isScalarType,
} from 'graphql';
import type { FieldTraits } from '../../engine/operation/field-traits.ts';
import { asGuest } from '../../lib/guest-code.ts';
import { plainJson } from '../../lib/plain-json.ts';
import type { Context } from '../schema/context.ts';
import { withinDeadline } from './field-deadline.ts';
import type { FieldOptions, Kit } from './kit.ts';
import { ResolverContext } from './resolver-context.ts';
import { createSharedValues } from './shared-values.ts';

type Field = GraphQLField<unknown, Context>;

/** The options of a field that the kit gives, as Pothos keeps them. */
interface Given {
  readonly extensionListSize?: { readonly most: number; readonly argument?: string };
  readonly extensionSharedSeconds?: number;
  readonly extensionDeadlineMs?: number;
}

/** The elements that extensions have added, with the names of their extensions. */
export type Additions = Map<string, string>;

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

export function deadline({ ms }: { readonly ms: number }): FieldOptions {
  if (!(Number.isInteger(ms) && ms > 0)) throw new Error(`deadline({ ms: ${ms} }): no time`);
  return { extensionDeadlineMs: ms } satisfies Given;
}

/** Names every type, and every field as `Type.field`. */
export function elementNames(schema: GraphQLSchema): ReadonlySet<string> {
  return new Set([...Object.keys(schema.getTypeMap()), ...fieldsOf(schema).map(([name]) => name)]);
}

/**
 * Confines what extensions have added: the resolvers of their fields get a ResolverContext and a deadline, the fields are
 * the viewer's own whatever they say, and no subscription may select them, since each would be resolved for each event and
 * subscriber.
 */
export function confine(schema: GraphQLSchema, additions: Additions, timeoutMs: number): void {
  const sharedValue = createSharedValues();
  const leftFor = createSharedTime(timeoutMs);
  const ofOutcomes = typesOfOutcomes(schema, additions);
  for (const [name, field, typeName] of fieldsOf(schema)) {
    const guest = additions.get(name);
    if (guest === undefined) continue;
    if (typeName === 'Subscription') throw new Error(`${name}: extensions add no subscriptions`);
    if (ofOutcomes.has(typeName) && isNonNullType(field.type)) {
      throw new Error(`${name}: it must be nullable, or its failure hides what a write has done`);
    }
    const {
      extensionListSize: size,
      extensionSharedSeconds: seconds,
      extensionDeadlineMs = timeoutMs,
    } = givenOf(field);
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
      notInSubscriptions: !additions.has(typeName),
      ...(size && { listSize: size.most }),
      ...(argument !== undefined && { sizeArgument: argument }),
    };
    const isWrite = typeName === 'Mutation';
    const limits = {
      guest,
      operation: `${guest}.${field.name}`,
      ms: Math.min(timeoutMs, extensionDeadlineMs),
      isWrite,
    };
    field.extensions = traits as typeof field.extensions;
    field.resolve = (source, args, context, info) => {
      const given = new ResolverContext(context, seconds !== undefined);
      const left =
        info.operation.operation === 'mutation' && !isWrite ? leftFor(context.scope) : timeoutMs;
      const bounds = left < limits.ms ? { ...limits, ms: left } : limits;
      const abort = (reason: Error) => ResolverContext.abort(given, reason);
      const run = () =>
        withinDeadline(bounds, abort, () => resolve(source, args, given as never, info));
      // What is read for a write's result is read after it.
      if (isWrite) return context.write(async () => run(), String(info.path.key));
      return seconds === undefined ? run() : sharedValue(name, source, args, seconds, run);
    };
  }
  for (const type of Object.values(schema.getTypeMap())) {
    const guest = additions.get(type.name);
    if (guest !== undefined) confineType(type, guest, timeoutMs);
  }
}

/**
 * The time that is left for what is selected below one write, whose outcome waits for all of it: fields below each other
 * share it, from when the first of them began.
 */
function createSharedTime(timeoutMs: number) {
  const ends = new WeakMap<object, number>();
  return (scope: object): number => {
    const now = performance.now();
    const end = ends.get(scope) ?? now + timeoutMs;
    ends.set(scope, end);
    return Math.max(1, end - now);
  };
}

/** What a type of an extension decides, and how its scalars are written, is code of the extension as well. */
function confineType(type: GraphQLNamedType, guest: string, ms: number): void {
  const limits = { guest, operation: `${guest}.${type.name}`, ms, isWrite: false };
  const bounded = (run: () => unknown) => withinDeadline(limits, () => {}, run) as never;
  if (isAbstractType(type) && type.resolveType) {
    const { resolveType } = type;
    type.resolveType = (...given) => bounded(() => resolveType.apply(type, given));
  }
  if (isObjectType(type) && type.isTypeOf) {
    const { isTypeOf } = type;
    type.isTypeOf = (...given) => bounded(() => isTypeOf.apply(type, given));
  }
  if (isScalarType(type)) {
    const { coerceOutputValue } = type;
    type.coerceOutputValue = (value) => plainJson(asGuest(guest, () => coerceOutputValue(value)));
  }
}

/**
 * The contract's types whose objects a null takes along up to a field of `Mutation`: that type itself, the outcomes of
 * writes, and what these hold in fields that are not nullable.
 */
function typesOfOutcomes(schema: GraphQLSchema, additions: Additions): ReadonlySet<string> {
  const found = new Set(['Mutation']);
  const add = (type: GraphQLNamedType) => {
    const types = isAbstractType(type) ? schema.getPossibleTypes(type) : [type];
    for (const each of types) {
      if (!isObjectType(each) || found.has(each.name)) continue;
      found.add(each.name);
      for (const field of Object.values(each.getFields())) {
        if (isNonNullType(field.type)) add(getNamedType(field.type));
      }
    }
  };
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    if (!additions.has(`Mutation.${field.name}`)) add(getNamedType(field.type));
  }
  return found;
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
