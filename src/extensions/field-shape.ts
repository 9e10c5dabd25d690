import { inspect } from 'node:util';
import {
  type GraphQLOutputType,
  isLeafType,
  isListType,
  isNonNullType,
  isScalarType,
  isSpecifiedScalarType,
} from 'graphql';
import { plainJson } from '../../lib/plain-json.ts';
import { fault, shown } from './faults.ts';
import { type FieldShape, failureOf } from './field-deadline.ts';

type Read = FieldShape['read'];

interface Owner {
  readonly guest: string;
  /** `Type.field`. */
  readonly field: string;
  /** Whether a type is of an extension, which confines how its scalars are written. */
  readonly isOwn: (type: string) => boolean;
}

/** The shape of a field's values: a value that its type does not allow is the fault of the extension, which GraphQL does not know. */
export function shapeOf(type: GraphQLOutputType, owner: Owner): FieldShape {
  return { lists: listsIn(type), read: readerOf(type, owner) };
}

function listsIn(type: GraphQLOutputType): number {
  if (isNonNullType(type)) return listsIn(type.ofType);
  return isListType(type) ? 1 + listsIn(type.ofType) : 0;
}

function readerOf(type: GraphQLOutputType, owner: Owner): Read {
  if (isNonNullType(type)) {
    const read = readerOf(type.ofType, owner);
    return (value) => {
      const plain = read(value);
      if (plain == null) throw fault(`Cannot return null for non-nullable field ${owner.field}.`);
      return plain;
    };
  }
  const read = isListType(type)
    ? itemsReader(readerOf(type.ofType, owner), owner)
    : leafReader(type, owner);
  return (value) => {
    if (value instanceof Error) throw value;
    return value == null ? value : read(value);
  };
}

/** An item that its type does not allow is an error of its own. */
function itemsReader(read: Read, { guest, field }: Owner): Read {
  return (value) => {
    if (!Array.isArray(value)) throw fault(`${field} must be a list, not ${shown(value)}`);
    return value.map((item) => {
      try {
        return read(item);
      } catch (error) {
        return failureOf(guest, error);
      }
    });
  };
}

function leafReader(type: GraphQLOutputType, { field, isOwn }: Owner): Read {
  if (isScalarType(type) && isSpecifiedScalarType(type))
    return (value) => type.coerceOutputValue(primitive(value));
  if (isScalarType(type) && type.name === 'JSON') {
    return (value) => {
      const plain = plainJson(value);
      if (plain == null) throw fault(`${field} is nothing in JSON (it is ${shown(value)})`);
      return plain;
    };
  }
  if (!isLeafType(type) || (isScalarType(type) && isOwn(type.name))) return (value) => value;
  return (value) => {
    type.coerceOutputValue(value);
    return value;
  };
}

/** An object in place of a text or a number, as GraphQL's own scalars read it. */
function primitive(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { toJSON, valueOf: read } = value as { toJSON?: unknown; valueOf?: unknown };
  const plain: unknown = typeof read === 'function' ? read.call(value) : value;
  const written = isPrimitive(plain) || typeof toJSON !== 'function' ? plain : toJSON.call(value);
  if (!isPrimitive(written)) throw new TypeError(`an object is no leaf: ${inspect(written)}`);
  return written;
}

function isPrimitive(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}
