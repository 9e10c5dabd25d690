import {
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  type GraphQLLeafType,
  type GraphQLOutputType,
  GraphQLString,
} from 'graphql';
import { abandon, isPromiseLike } from '../../../lib/maybe-promise.ts';
import { extraForText } from '../../core/meter.ts';
import type { Run } from './run.ts';

/** Thrown if an answer would be incomplete: the reference executor reports the error. A singleton captures no stack. */
const NOT_WHOLE = new Error('the answer would not be whole');

/** Returns the error for a value that a compiled operation cannot complete, and drops the value. */
export function notWhole(value: unknown): Error {
  abandon(value);
  return NOT_WHOLE;
}

/** Whether a value is sent as it is: most values need no conversion, and few texts count as more than their field. */
export function isPlainLeaf(type: GraphQLOutputType, value: unknown): boolean {
  switch (type) {
    case GraphQLFloat:
      return Number.isFinite(value);
    case GraphQLString:
    case GraphQLID:
      return typeof value === 'string' && extraForText(value.length) === 0;
    case GraphQLInt:
      // `| 0` converts to an integer of 32 bits.
      return typeof value === 'number' && (value | 0) === value;
    case GraphQLBoolean:
      return typeof value === 'boolean';
    default:
      return false;
  }
}

/** Serializes a leaf as its type does. */
export function completeLeaf(type: GraphQLLeafType, run: Run, value: unknown): unknown {
  if (isPlainLeaf(type, value)) return value;
  if (value == null || isForReference(value)) throw notWhole(value);
  if (typeof value === 'string' && (type === GraphQLString || type === GraphQLID)) {
    run.count(extraForText(value.length));
    return value;
  }
  const shown = type.coerceOutputValue(value);
  if (shown == null) throw NOT_WHOLE;
  return shown;
}

/** Whether a value is an error, a method or a promise, which the reference executor handles. No leaf of this schema is any. */
function isForReference(value: unknown): boolean {
  if (typeof value !== 'object') return typeof value === 'function';
  return value instanceof Error || isPromiseLike(value);
}
