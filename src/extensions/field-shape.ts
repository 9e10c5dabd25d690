import {
  type GraphQLOutputType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isScalarType,
} from 'graphql';
import { fault, shown } from './faults.ts';
import { type FieldShape, failureOf } from './field-deadline.ts';

type Read = FieldShape['read'];

interface Owner {
  readonly extension: string;
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
function itemsReader(read: Read, { extension, field }: Owner): Read {
  return (value) => {
    if (!Array.isArray(value)) throw fault(`${field} must be a list, not ${shown(value)}`);
    return value.map((item) => {
      try {
        return read(item);
      } catch (error) {
        return failureOf(extension, error);
      }
    });
  };
}

function leafReader(type: GraphQLOutputType, { field, isOwn }: Owner): Read {
  if (!isLeafType(type) || (isScalarType(type) && isOwn(type.name))) return (value) => value;
  return (value) => {
    const written = type.coerceOutputValue(value);
    if (written == null) throw fault(`${field} is nothing in JSON (it is ${shown(value)})`);
    // GraphQL writes it again, which a name of an enum would not stand.
    return isEnumType(type) ? value : written;
  };
}
