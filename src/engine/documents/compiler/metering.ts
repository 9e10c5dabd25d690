import {
  defaultFieldResolver,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLFieldResolver,
  GraphQLID,
  type GraphQLSchema,
  GraphQLString,
  getNamedType,
  getNullableType,
  isCompositeType,
  isLeafType,
  isListType,
  isObjectType,
} from 'graphql';
import { memo } from '../../../lib/memo.ts';
import {
  extraForText,
  FIELDS_PER_ERROR,
  type Meter,
  OVER_BUDGET,
  weightOfKey,
} from '../../operation/meter.ts';

type Field = GraphQLField<unknown, unknown>;
type Resolver = GraphQLFieldResolver<unknown, unknown>;

// Lists up to this length are completed in one slice, even in a costly answer.
const MAX_UNSLICED_LENGTH = 25;
// A longer list is completed in slices even if the cost was estimated as small.
const MAX_UNSLICED_LENGTH_IF_CHEAP = 200;

export type Metering = ReturnType<typeof createMetering>;

/**
 * Makes the schema that one run of the reference executor sees: its fields count themselves, and yield in large answers.
 * The executor looks each field up by `getField`, and has no other hook. Copying the whole schema would take 140 µs for each
 * run instead of 0.3. One schema for all runs would have to find the meter in the application's context.
 */
export function createMetering(schema: GraphQLSchema) {
  const outcomes = outcomeTypes(schema);

  // The outcome of a write (its field and the leaves of its result) is returned even if reads after it exceed the budget.
  const isOutcome = (parent: GraphQLCompositeType, field: Field) =>
    parent === schema.getMutationType() ||
    (outcomes.has(parent.name) && isLeafType(getNamedType(field.type)));

  return (meter: Meter): GraphQLSchema => {
    const types = new Map<GraphQLCompositeType, Map<string, Field>>();
    const getField = (parent: GraphQLCompositeType, name: string) => {
      const fields = memo(types, parent, () => new Map<string, Field>());
      const known = fields.get(name);
      if (known) return known;
      const field = schema.getField(parent, name);
      if (!field) return undefined;
      const resolve = metered(field, meter, isOutcome(parent, field));
      const counting: Field = Object.create(field, { resolve: { value: resolve } });
      fields.set(name, counting);
      return counting;
    };
    return Object.create(schema, { getField: { value: getField } });
  };
}

/** The types of mutation results. */
function outcomeTypes(schema: GraphQLSchema): Set<string> {
  const fields = Object.values(schema.getMutationType()?.getFields() ?? {});
  const types = fields
    .map(({ type }) => getNamedType(type))
    .filter(isCompositeType)
    .flatMap((type) => (isObjectType(type) ? [type] : schema.getPossibleTypes(type)));
  return new Set(types.map(({ name }) => name));
}

function metered(field: Field, meter: Meter, isExempt: boolean): Resolver {
  const { resolve = defaultFieldResolver, type } = field;
  const inner = getNamedType(type);
  const isText = inner === GraphQLString || inner === GraphQLID;
  const isObjectList = isListType(getNullableType(type)) && isCompositeType(inner);
  const mayYield = mayTakeLong(field) && !isExempt;

  function countedValue(value: unknown): unknown {
    const isWithin = meter.count(isText ? extraForTexts(value) : 0);
    if (!isWithin && !isExempt) {
      abandon(value);
      throw OVER_BUDGET;
    }
    return isObjectList ? inSlices(value, meter) : value;
  }

  function throwCounted(error: unknown): never {
    const isWithin = meter.count(FIELDS_PER_ERROR);
    throw isWithin || isExempt ? error : OVER_BUDGET;
  }

  const resolveCounted: Resolver = (source, args, context, info) => {
    let value: unknown;
    try {
      value = resolve(source, args, context, info);
    } catch (error) {
      return throwCounted(error);
    }
    return isPromiseLike(value) ? value.then(countedValue, throwCounted) : countedValue(value);
  };

  return (source, args, context, info) => {
    const isWithin = meter.count(weightOfKey(String(info.path.key)));
    if (!isWithin && !isExempt) throw OVER_BUDGET;
    if (mayYield && meter.isCostly && meter.scheduler.isSliceOver()) {
      return meter.scheduler.turn(meter.client).then(() => {
        if (meter.isOverNow()) throw OVER_BUDGET;
        return resolveCounted(source, args, context, info);
      });
    }
    return resolveCounted(source, args, context, info);
  };
}

/** A field with arguments can compute much and return little. In a costly answer it gets a turn of its own. */
export function mayTakeLong({ args }: Field): boolean {
  return args.length > 0;
}

/** The number of fields that a text, or a list of texts, counts as in addition to its own field. */
function extraForTexts(value: unknown): number {
  if (typeof value === 'string') return extraForText(value.length);
  if (!Array.isArray(value)) return 0;
  return value.reduce((sum: number, each) => sum + extraForTexts(each), 0);
}

/** Returns a list unchanged, or as an async iterable if completing it takes long. */
function inSlices(value: unknown, meter: Meter): unknown {
  // The executor awaits all promises of a list at once. Read one by one, a later one could reject before it is awaited.
  if (!Array.isArray(value) || value.some(isPromiseLike)) return value;
  const mustWaitForRoom = meter.listRoom !== null;
  if (mustWaitForRoom) return sliced(value, meter);
  const maxLength = meter.isCostly ? MAX_UNSLICED_LENGTH : MAX_UNSLICED_LENGTH_IF_CHEAP;
  return value.length > maxLength ? sliced(value, meter) : value;
}

async function* sliced(items: readonly unknown[], meter: Meter): AsyncGenerator<unknown> {
  const { scheduler, client } = meter;
  await meter.listRoom;
  for (const item of items) {
    if (scheduler.isSliceOver()) await scheduler.turn(client);
    // Ends the list at once. The executor alone would begin every further item, and refuse it at its first field.
    if (meter.isOverNow()) throw OVER_BUDGET;
    yield item;
  }
}

/** Drops a value. Handles the rejections of its promises, because an unhandled rejection ends the process. */
export function abandon(value: unknown): void {
  for (const each of Array.isArray(value) ? value : [value]) {
    if (isPromiseLike(each)) each.then(undefined, () => {});
  }
}

export function isPromiseLike(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}
