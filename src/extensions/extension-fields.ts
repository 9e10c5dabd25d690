import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isNonNullType,
  isObjectType,
  isScalarType,
} from 'graphql';
import { runInExtension } from '../../lib/extension-code.ts';
import type { FieldTraits } from '../../lib/field-traits.ts';
import { plainJson } from '../../lib/plain-json.ts';
import { ROW_KEY, type Row } from '../domain/live-rows.ts';
import type { Context } from '../schema/context.ts';
import { fault } from './faults.ts';
import {
  type FieldDeadline,
  failureOf,
  isPending,
  listed,
  readableError,
  withinDeadline,
} from './field-deadline.ts';
import { shapeOf } from './field-shape.ts';
import type { FieldOptions, Kit } from './kit.ts';
import { createOutcomeBudgets, typesOfOutcomes } from './outcomes.ts';
import { ownArguments, readOnly } from './read-only.ts';
import { ResolverContext } from './resolver-context.ts';
import { createSharedValues } from './shared-values.ts';

type Field = GraphQLField<unknown, Context>;

/** The options of a field that the kit gives, as Pothos keeps them. */
interface Given {
  readonly extensionListSize?: { readonly most: number; readonly argument?: string };
  readonly extensionSharedSeconds?: number;
  readonly extensionDeadlineMs?: number;
  readonly extensionIsComputed?: boolean;
}

type Resolve = (
  source: unknown,
  args: unknown,
  context: Context,
  info: GraphQLResolveInfo | undefined,
) => unknown;

const INSTEAD =
  'ask for it in a query, or let its author mark it as computed() if it reads nothing';

/** The arguments of `resolveType` and `isTypeOf`. */
type Asked<Rest extends unknown[]> = [value: unknown, context: ResolverContext, ...rest: Rest];

/** The context of a computed field. */
const NO_CONTEXT = new Proxy({} as Context, {
  get() {
    throw fault('a computed() field reads nothing: leave computed() out');
  },
});

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

export function computed(): FieldOptions {
  return { extensionIsComputed: true } satisfies Given;
}

/** Names every type, and every field as `Type.field`. */
export function elementNames(schema: GraphQLSchema): ReadonlySet<string> {
  return new Set([...Object.keys(schema.getTypeMap()), ...fieldsOf(schema).map(([name]) => name)]);
}

/**
 * Confines what extensions have added: the resolvers of their fields get a ResolverContext and a deadline, the fields are
 * the viewer's own whatever they say, and no subscription may select them, since each would be resolved for each event and
 * subscriber: but those that read nothing, which are the same for all who share an event.
 */
export function confine(schema: GraphQLSchema, additions: Additions, timeoutMs: number): void {
  const sharedValue = createSharedValues();
  const leftFor = createOutcomeBudgets(typesOfOutcomes(schema, additions), timeoutMs);
  for (const [name, field, typeName] of fieldsOf(schema)) {
    const extension = additions.get(name);
    if (extension === undefined) continue;
    if (typeName === 'Subscription') throw new Error(`${name}: extensions add no subscriptions`);
    if (!additions.has(typeName) && isNonNullType(field.type)) {
      throw new Error(`${name}: it must be nullable, or its failure hides what is beside it`);
    }
    const {
      extensionListSize: size,
      extensionSharedSeconds: seconds,
      extensionDeadlineMs = timeoutMs,
      extensionIsComputed: isComputed = false,
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
    const isOwnType = additions.has(typeName);
    const property = isOwnType ? exposedBy(field) : null;
    const traits: FieldTraits = {
      ...(isComputed || property !== null
        ? { sharing: 'account' }
        : { notInSubscriptions: INSTEAD }),
      ...(size && { listSize: size.most }),
      ...(argument !== undefined && { sizeArgument: argument }),
    };
    const isWrite = typeName === 'Mutation';
    const isOwn = (type: string) => additions.has(type);
    const shape = shapeOf(field.type, { extension, field: name, isOwn });
    const ms = Math.min(timeoutMs, extensionDeadlineMs);
    const deadline = { extension, operation: `${extension}.${field.name}`, ms, isWrite };
    field.extensions = traits as typeof field.extensions;
    const resolveWithin: Resolve = (source, args, context, info) => {
      // Compiled code has no path, and runs no writes.
      const leftMs = info === undefined ? ms : leftFor(context, info.path);
      const bounded = leftMs < ms ? { ...deadline, ms: leftMs } : deadline;
      const shown = isOwnType ? source : readOnly(source);
      const run = (within: FieldDeadline) => {
        // Within a write, which is for whom the request is, whoever a `login` before it has signed in.
        const given = new ResolverContext(context, extension, seconds !== undefined, info);
        const own = () =>
          resolve(shown, ownArguments(args, context), given as never, info as never);
        const written = () => given.writing(deadline.operation, own);
        return withinDeadline(within, given, isWrite ? written : own, shape);
      };
      // The reads of a write's result follow the write.
      if (isWrite) return context.write(async () => run(bounded), String(info?.path.key));
      if (seconds === undefined) return run(bounded);
      // The getters of a value run when its size is read.
      const read = () =>
        runInExtension(extension, () =>
          sharedValue(name, source, args, seconds, () => run(deadline)),
        );
      // Requests that wait for the same value have more time.
      return bounded === deadline ? read() : withinDeadline(bounded, null, read);
    };
    // A resolver of three parameters can be compiled.
    if (isComputed) {
      field.resolve = (source, args, context) =>
        withinDeadline(
          deadline,
          null,
          () => {
            const shown = isOwnType ? source : readOnly(source);
            const own = ownArguments(args, context);
            const value = listed(resolve(shown, own, NO_CONTEXT, undefined as never), shape.lists);
            if (isPending(value))
              throw fault(`${name} is computed: it must have its value at once`);
            return value;
          },
          shape,
        );
      // It may read what moves, and would stay as it was where a client selects ticks.
      const tick = typeName === 'Position' && schema.getType('PositionTick');
      if (tick && isObjectType(tick)) tick.getFields()[field.name] = field;
    } else if (property !== null) {
      const ofRow = (value: unknown) => {
        try {
          return shape.read(value);
        } catch (error) {
          throw failureOf(extension, error);
        }
      };
      field.resolve = (source, args, context, ...[info]) =>
        isRow(source) ? ofRow(source[property]) : resolveWithin(source, args, context, info);
    } else
      field.resolve = (source, args, context, info) => resolveWithin(source, args, context, info);
  }
  for (const type of Object.values(schema.getTypeMap())) {
    const extension = additions.get(type.name);
    if (extension !== undefined) confineType(type, schema, extension, timeoutMs);
  }
}

/** The property that a field exposes; null where it has a resolver. */
export function exposedBy({ extensions }: Pick<Field, 'extensions'>): string | null {
  const { pothosExposedField: property } = extensions;
  return typeof property === 'string' ? property : null;
}

/** Rows of live lists are plain: nothing of an extension runs where one is read. */
function isRow(source: unknown): source is Row {
  return typeof source === 'object' && source !== null && ROW_KEY in source;
}

/** Confines a type of an extension: how it is resolved, and how a scalar is written, is the extension's code as well. */
function confineType(
  type: GraphQLNamedType,
  schema: GraphQLSchema,
  extension: string,
  ms: number,
): void {
  const limits = { extension, operation: `${extension}.${type.name}`, ms, isWrite: false };
  const bounded =
    <Rest extends [GraphQLResolveInfo, ...unknown[]]>(
      ask: (...given: Asked<Rest>) => unknown,
      check: (answer: unknown, info: GraphQLResolveInfo) => boolean,
    ) =>
    (value: unknown, context: Context | ResolverContext, ...rest: Rest) => {
      const [info] = rest;
      // The types of an abstract one are asked with its own context.
      const given =
        context instanceof ResolverContext
          ? context
          : new ResolverContext(context, extension, false, info);
      const read = (answer: unknown) => {
        if (check(answer, info)) return answer;
        throw fault(`a value of ${info.parentType}.${info.fieldName} is of no type that it may be`);
      };
      const run = () => ask.call(type, value, given, ...rest);
      return withinDeadline(limits, given, run, { lists: 0, read }) as never;
    };
  if (isAbstractType(type) && type.resolveType) {
    const possible = new Set<unknown>(schema.getPossibleTypes(type).map(({ name }) => name));
    type.resolveType = bounded(type.resolveType, (name) => possible.has(name));
  }
  if (isObjectType(type) && type.isTypeOf) {
    // GraphQL also asks it which of an abstract type's types a value is: then false is no fault.
    const isMeant = ({ returnType }: GraphQLResolveInfo) =>
      `${getNamedType(returnType)}` === type.name;
    type.isTypeOf = bounded(type.isTypeOf, (isIt, info) => Boolean(isIt) || !isMeant(info));
  }
  if (isScalarType(type)) {
    const { coerceOutputValue } = type;
    type.coerceOutputValue = (value) =>
      withinDeadline(limits, null, () => {
        const plain = plainJson(coerceOutputValue(value));
        if (plain == null) throw fault(`${type.name} has written nothing`);
        return plain;
      });
    for (const name of [
      'coerceInputValue',
      'coerceInputLiteral',
      'parseValue',
      'parseLiteral',
    ] as const) {
      const coerce = type[name] as ((...given: unknown[]) => unknown) | undefined;
      if (coerce === undefined) continue;
      const coerceOwn = (...given: unknown[]) =>
        runInExtension(extension, () => atOnce(type.name, () => coerce.apply(type, given)));
      Object.assign(type, { [name]: coerceOwn });
    }
  }
}

/** Parses an input: GraphQL waits for none, and would drop a promise. */
function atOnce(scalar: string, parse: () => unknown): unknown {
  let value: unknown;
  try {
    value = parse();
  } catch (error) {
    throw readableError(error);
  }
  if (!isPending(value)) return value;
  if (value instanceof Promise) value.catch(() => {});
  throw fault(`${scalar} must parse a value at once`);
}

export function givenOf({ extensions }: Pick<Field, 'extensions'>): Given {
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
