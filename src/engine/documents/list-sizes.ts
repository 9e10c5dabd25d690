import {
  type FieldNode,
  type GraphQLField,
  GraphQLInt,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isObjectType,
} from 'graphql';
import { traitOf } from '../../lib/field-traits.ts';
import type { Amount, CostInputs } from './amount.ts';
import type { DocumentValues } from './document-values.ts';

/** The default for lists whose size nothing says. */
const USUAL_SIZE = 50;
const DEFAULT_PAGE = 50;
export const MAX_PAGE_SIZE = 500;

export type ListSizes = ReturnType<typeof createListSizes>;

/** Estimates how many entries a list can contain before anything is read. `page`: that of the connection around it. */
export function createListSizes(schema: GraphQLSchema) {
  const ofIntrospection = new Map(introspectionSizes(schema));
  return (typeName: string, field: GraphQLField<unknown, unknown>, page: Amount | null): Amount => {
    const own = traitOf(field, 'listSize');
    if (own !== undefined) return sizeOf(own);
    const known = ofIntrospection.get(`${typeName}.${field.name}`) ?? page;
    if (known !== null) return known;
    const ofType = traitOf(getNamedType(field.type), 'listSize');
    return ofType === undefined ? USUAL_SIZE : sizeOf(ofType);
  };
}

function sizeOf(size: string | number): Amount {
  return typeof size === 'number' ? size : (inputs) => inputs.sizeOf(size);
}

/** The page size that the arguments request for a page's lists; null where the field is a list itself, or none counts. */
export function pageSize(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  values: DocumentValues,
): Amount | null {
  const names = ['first', 'last', traitOf(field, 'sizeArgument')];
  const counting = field.args.filter(
    ({ name, type }) => names.includes(name) && getNullableType(type) === GraphQLInt,
  );
  if (counting.length === 0 || isListType(getNullableType(field.type))) return null;
  const wanted = counting.map(({ name, defaultValue }) => {
    const given = node.arguments?.find((each) => each.name.value === name);
    const count = given && values.read(given.value);
    return typeof count === 'function'
      ? (inputs: CostInputs) => count(inputs) ?? defaultValue
      : (count ?? defaultValue);
  });
  const size = (inputs: CostInputs) => {
    const counts = wanted
      .map((one) => (typeof one === 'function' ? one(inputs) : one))
      .filter((one) => typeof one === 'number');
    return sizeWithin(field, counts.length === 0 ? DEFAULT_PAGE : Math.max(...counts));
  };
  return wanted.some((one) => typeof one === 'function') ? size : size(NO_INPUTS);
}

/**
 * The entries that the arguments of a list request: as many as its size argument says, or one for each of those in it; null
 * where the field has none. `ids` is one by its name.
 */
export function requestedSize(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  values: DocumentValues,
): Amount | null {
  const sizing = traitOf(field, 'sizeArgument') ?? 'ids';
  const argument = field.args.find(({ name }) => name === sizing);
  if (argument === undefined) return null;
  const isList = isListType(getNullableType(argument.type));
  const given = node.arguments?.find(({ name }) => name.value === sizing);
  const count = given && (isList ? values.readLength(given.value) : values.read(given.value));
  const usual = isList ? USUAL_SIZE : argument.defaultValue;
  const size = (wanted: unknown = usual) => sizeWithin(field, wanted);
  return typeof count === 'function' ? (inputs) => size(count(inputs)) : size(count);
}

/** A size outside the range is refused by the resolver before anything is read. */
function sizeWithin(field: GraphQLField<unknown, unknown>, wanted: unknown): number {
  const known = traitOf(field, 'listSize');
  const most = typeof known === 'number' ? known : MAX_PAGE_SIZE;
  return typeof wanted === 'number' ? Math.min(most, Math.max(0, wanted)) : most;
}

const NO_INPUTS: CostInputs = {
  variables: {},
  sizeOf: () => 0,
};

/** Averages over this schema, since each of its types is introspected about equally often. */
function introspectionSizes(schema: GraphQLSchema): [string, Amount][] {
  const types = Object.values(schema.getTypeMap());
  const fields = types.flatMap((type) =>
    isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : [],
  );
  const inputs = types.flatMap((type) =>
    isInputObjectType(type) ? Object.values(type.getFields()) : [],
  );
  const per = (count: number, among: number) => Math.max(1, Math.ceil(count / Math.max(1, among)));
  const args = fields.reduce((count, field) => count + field.args.length, 0);
  return [
    ['__Schema.types', types.length],
    ['__Schema.directives', schema.getDirectives().length],
    ['__Type.fields', per(fields.length, types.length)],
    ['__Type.inputFields', per(inputs.length, types.length)],
    ['__Type.enumValues', 2],
    ['__Type.interfaces', 1],
    ['__Type.possibleTypes', 1],
    ['__Field.args', per(args, fields.length)],
    ['__Directive.args', 2],
  ];
}
