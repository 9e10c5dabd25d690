import { type FieldNode, GraphQLInt, getNamedType, getNullableType, isListType } from 'graphql';
import { traitOf } from '../../lib/field-traits.ts';
import type { Field, ReadValue } from '../core/selections.ts';

/** Returns the number of things that a schema's trait `listSize` or `scans` names, such as the entries of a list. */
export type SizeOf = (name: string) => number;

/** The values of one request that the sizes of its lists depend on. */
export interface RequestValues {
  readonly read: ReadValue;
  readonly sizeOf: SizeOf;
}

/** The default for lists without a known size. */
const USUAL_SIZE = 50;
const DEFAULT_PAGE = 50;
const MAX_PAGE_SIZE = 500;

/** The default for lists of introspection: few types have more fields, and few fields have more arguments. */
const INTROSPECTED_SIZE = 4;

/** Estimates the entries of a list before anything is read. `page` is the page size of the enclosing connection. */
export function listSize(
  field: Field,
  node: FieldNode,
  page: number | null,
  values: RequestValues,
): number {
  const requested = requestedSize(field, node, values);
  if (requested !== null) return requested;
  const toNumber = (size: string | number) =>
    typeof size === 'number' ? size : values.sizeOf(size);
  const ownSize = traitOf(field, 'listSize');
  if (ownSize !== undefined) return toNumber(ownSize);
  const type = getNamedType(field.type);
  if (type.name.startsWith('__')) return INTROSPECTED_SIZE;
  return page ?? toNumber(traitOf(type, 'listSize') ?? USUAL_SIZE);
}

/** The page size that the arguments request for a connection's lists; null if the field has none, or is a list itself. */
export function pageSize(field: Field, node: FieldNode, values: RequestValues): number | null {
  const countArguments = field.args.filter(
    ({ name, type }) =>
      (name === 'first' || name === 'last') && getNullableType(type) === GraphQLInt,
  );
  if (countArguments.length === 0 || isListType(getNullableType(field.type))) return null;
  const counts = countArguments
    .map(({ name, defaultValue }) => givenValue(node, name, values) ?? defaultValue)
    .filter((count) => typeof count === 'number');
  return sizeWithin(field, counts.length === 0 ? DEFAULT_PAGE : Math.max(...counts));
}

/** The number of values of the argument that lists the wanted entries. Null if the field has no such argument. */
function requestedSize(field: Field, node: FieldNode, values: RequestValues): number | null {
  const argument = traitOf(field, 'sizeArgument') ?? 'ids';
  if (!field.args.some(({ name }) => name === argument)) return null;
  const given = givenValue(node, argument, values);
  if (given === undefined) return sizeWithin(field, USUAL_SIZE);
  // GraphQL coerces a single value to a list of one.
  return sizeWithin(field, Array.isArray(given) ? given.length : 1);
}

/** Returns undefined if the argument is left out. */
function givenValue(node: FieldNode, name: string, { read }: RequestValues): unknown {
  const given = node.arguments?.find((each) => each.name.value === name);
  return given && read(given.value);
}

/** Limits a size to the field's range. The resolver refuses a size outside this range before it reads anything. */
function sizeWithin(field: Field, wanted: number): number {
  const maximum = traitOf(field, 'listSize');
  const max = typeof maximum === 'number' ? maximum : MAX_PAGE_SIZE;
  return Math.min(max, Math.max(0, wanted));
}
