import {
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  type GraphQLLeafType,
  GraphQLString,
} from 'graphql';

export type ReadLeaf = (value: unknown) => unknown;

/** Thrown by compiled code where an answer would not be whole; why is the reference executor's to say. */
export class NotWholeError extends Error {
  override readonly name = 'NotWholeError';
}

// One for all: it says nothing, and taking its stack would cost more than the field.
export const NOT_WHOLE = new NotWholeError();

/**
 * What a value looks like in the answer, as the type itself says; those that look like themselves,
 * which is nearly all, are let through without asking it.
 */
export function leafOf(type: GraphQLLeafType): ReadLeaf {
  const asked: ReadLeaf = (value) => ask(type, value);
  switch (type) {
    case GraphQLString:
    case GraphQLID:
      return (value) => (typeof value === 'string' ? value : asked(value));
    case GraphQLFloat:
      return (value) =>
        typeof value === 'number' && Number.isFinite(value) ? value : asked(value);
    case GraphQLInt:
      return (value) => (isInt(value) ? value : asked(value));
    case GraphQLBoolean:
      return (value) => (typeof value === 'boolean' ? value : asked(value));
    default:
      return asked;
  }
}

function ask(type: GraphQLLeafType, value: unknown): unknown {
  if (value == null || value instanceof Error || isDeferred(value)) throw NOT_WHOLE;
  const shown = type.coerceOutputValue(value);
  if (shown == null) throw NOT_WHOLE;
  return shown;
}

function isInt(value: unknown): value is number {
  return typeof value === 'number' && (value | 0) === value;
}

/** Waiting and calling is the reference executor's: no leaf of ours is a promise or a method. */
function isDeferred(value: NonNullable<unknown>): boolean {
  return typeof value === 'function' || typeof (value as { then?: unknown }).then === 'function';
}
