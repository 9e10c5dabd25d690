import {
  type FieldNode,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import type { DocumentValues } from '../documents/document-values.ts';
import type { Amount, CostInputs } from './amount.ts';

/** Positions, orders and what else comes as the gateway has it. */
const USUAL_SIZE = 50;
const DEFAULT_PAGE = 50;
const LONGEST_PAGE = 500;
/** Before any catalog was fetched. */
const COLD_CATALOG = 1_000;

const heldPositions = ({ heldPositions }: CostInputs) => Math.max(USUAL_SIZE, heldPositions());
const heldOrders = ({ heldOrders }: CostInputs) => Math.max(USUAL_SIZE, heldOrders());
const heldCatalog = ({ heldInstruments }: CostInputs) => heldInstruments() || COLD_CATALOG;

/** How many entries a list can hold, as far as that can be known before anything is read. */
export class ListSizes {
  readonly #known: ReadonlyMap<string, Amount>;

  constructor(schema: GraphQLSchema) {
    this.#known = new Map<string, Amount>([
      ['Catalog.instruments', heldCatalog],
      ['CatalogChanges.upserted', heldCatalog],
      ...introspectionSizes(schema),
    ]);
  }

  /** `page`: the size of the connection that the list belongs to. */
  of(typeName: string, field: GraphQLField<unknown, unknown>, page: Amount | null): Amount {
    const known = this.#known.get(`${typeName}.${field.name}`) ?? page;
    return known ?? HOLDINGS.get(getNamedType(field.type).name) ?? USUAL_SIZE;
  }
}

/** Lists of what an account holds are as long as the account has them, wherever they stand. */
const HOLDINGS: ReadonlyMap<string, Amount> = new Map([
  ['Position', heldPositions],
  ['Order', heldOrders],
]);

/** The page that a connection's arguments ask for; null where the field is no connection. */
export function pageSize(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  values: DocumentValues,
): Amount | null {
  const takes = new Set(field.args.map((argument) => argument.name));
  if (!takes.has('first') || !takes.has('last')) return null;
  const wanted = (node.arguments ?? [])
    .filter(({ name }) => name.value === 'first' || name.value === 'last')
    .map(({ value }) => values.read(value));
  const size = (inputs: CostInputs) => {
    const counts = wanted
      .map((one) => (typeof one === 'function' ? one(inputs) : one))
      .filter((one) => typeof one === 'number');
    if (counts.length === 0) return DEFAULT_PAGE;
    // What is outside is refused when the field is resolved, before anything is read.
    return Math.min(LONGEST_PAGE, Math.max(0, ...counts));
  };
  return wanted.some((one) => typeof one === 'function') ? size : size(NO_INPUTS);
}

const NO_INPUTS: CostInputs = {
  variables: {},
  heldInstruments: () => 0,
  heldPositions: () => 0,
  heldOrders: () => 0,
};

/** The schema's own figures; averages, since each type is met about as often as the others. */
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
