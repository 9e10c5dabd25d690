import {
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  type GraphQLLeafType,
  GraphQLString,
} from 'graphql';
import { extraForText } from '../../operation/meter.ts';
import { abandon } from './metering.ts';
import type { Complete, Run } from './run.ts';

/** Thrown if an answer would be incomplete: the reference executor reports the error. A singleton captures no stack. */
const NOT_WHOLE = new Error('the answer would not be whole');

/** Returns the error for a value that a compiled operation cannot complete, and drops the value. */
export function notWhole(value: unknown): Error {
  abandon(value);
  return NOT_WHOLE;
}

/** Returns a function that serializes a leaf as its type does. Most values need no conversion, so the type is not called. */
export function leafOf(type: GraphQLLeafType): Complete {
  switch (type) {
    case GraphQLString:
    case GraphQLID:
      return (run, value) =>
        typeof value === 'string' ? countedText(value, run) : serialized(type, value);
    case GraphQLFloat:
      return (_run, value) => (Number.isFinite(value) ? value : serialized(type, value));
    case GraphQLInt:
      return (_run, value) => (isInt(value) ? value : serialized(type, value));
    case GraphQLBoolean:
      return (_run, value) => (typeof value === 'boolean' ? value : serialized(type, value));
    default:
      return (_run, value) => serialized(type, value);
  }
}

function countedText(value: string, run: Run): string {
  const extra = extraForText(value.length);
  if (extra > 0) run.count(extra);
  return value;
}

function serialized(type: GraphQLLeafType, value: unknown): unknown {
  if (value == null || value instanceof Error || isDeferred(value)) throw notWhole(value);
  const shown = type.coerceOutputValue(value);
  if (shown == null) throw NOT_WHOLE;
  return shown;
}

/** Whether a value is an integer of 32 bits, to which `| 0` converts it. */
function isInt(value: unknown): value is number {
  return typeof value === 'number' && (value | 0) === value;
}

/** Whether a value is a method or a promise, which the reference executor handles. No leaf of this schema is either. */
function isDeferred(value: NonNullable<unknown>): boolean {
  return typeof value === 'function' || typeof (value as { then?: unknown }).then === 'function';
}
