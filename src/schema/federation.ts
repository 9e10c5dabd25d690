import {
  extendSchema,
  type GraphQLObjectType,
  type GraphQLScalarType,
  type GraphQLSchema,
  type GraphQLUnionType,
  parse,
} from 'graphql';
import { traits } from '../lib/field-traits.ts';
import type { MaybePromise } from '../lib/maybe-promise.ts';
import { InputError } from '../lib/public-error.ts';
import type { Context } from './context.ts';
import { printedSchema } from './schema.ts';
import type { Scope } from './scope.ts';

const MAX_ENTITIES = 500;

/** Finds an object by its id for the viewer of the request; null if there is none. */
type Find = (scope: Scope, id: string) => MaybePromise<object | null>;

const ENTITIES: Readonly<Record<string, Find>> = {
  Instrument: (scope, id) => scope.instrument(id),
  Position: (scope, id) => scope.position(id),
  Order: (scope, id) => scope.order(id),
};

const TYPES = Object.keys(ENTITIES);

/** The fields that a router requires of a subgraph. They read through the scope of their request, as every field does. */
const SUBGRAPH_FIELDS = parse(`
  "A reference of a router to an object: the name of its type, and its id."
  scalar _Any
  "An object that other services of a supergraph refer to by its id."
  union _Entity = ${TYPES.join(' | ')}
  "The schema, for a router."
  type _Service {
    "The SDL, with the directives of Apollo Federation."
    sdl: String!
  }
  extend type Query {
    "The schema, for a router."
    _service: _Service!
    "Objects by their ids, for a router: null if the viewer has no such object. At most ${MAX_ENTITIES}."
    _entities("Their types and ids." representations: [_Any!]!): [_Entity]!
  }
`);

const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.4", import: ["@key"])\n';
// Tools of GraphQL 16 do not know this directive.
const ONE_OF = 'directive @oneOf on INPUT_OBJECT\n';

export function federated(schema: GraphQLSchema): GraphQLSchema {
  const extended = extendSchema(schema, SUBGRAPH_FIELDS);
  const any = extended.getType('_Any') as GraphQLScalarType;
  const json = extended.getType('JSON') as GraphQLScalarType;
  any.coerceInputValue = json.coerceInputValue;
  any.coerceInputLiteral = json.coerceInputLiteral;
  any.parseValue = json.parseValue;
  any.parseLiteral = json.parseLiteral;
  const entity = extended.getType('_Entity') as GraphQLUnionType;
  const typeNames = new WeakMap<object, string>();
  entity.resolveType = (value) => typeNames.get(value as object);
  const { _service: service, _entities: entities } = (
    extended.getQueryType() as GraphQLObjectType
  ).getFields();
  if (service === undefined || entities === undefined) throw new Error('no fields of a subgraph');
  const sdl = subgraphSdl(schema);
  service.resolve = () => ({ sdl });
  const sizes = traits({ listSize: MAX_ENTITIES, sizeArgument: 'representations' });
  entities.extensions = sizes.extensions as typeof entities.extensions;
  entities.resolve = (_root, { representations }, { scope }: Context) => {
    if (representations.length > MAX_ENTITIES) {
      const message = `representations must be at most ${MAX_ENTITIES}.`;
      throw new InputError('representations', message);
    }
    return representations.map(async (given: unknown) => {
      const { type, find, id } = parseRepresentation(given);
      const value = await find(scope, id);
      if (value === null) return null;
      // Each object belongs to one type. The WeakMap drops an object with its list or catalog.
      typeNames.set(value, type);
      return value;
    });
  };
  return extended;
}

function parseRepresentation(given: unknown) {
  const { __typename: type, id } = (given ?? {}) as Readonly<Record<string, unknown>>;
  const find = typeof type === 'string' && TYPES.includes(type) ? ENTITIES[type] : undefined;
  if (typeof type !== 'string' || find === undefined || typeof id !== 'string') {
    const message = `representations have a __typename (${TYPES.join(', ')}) and an id.`;
    throw new InputError('representations', message);
  }
  return { type, find, id };
}

function subgraphSdl(schema: GraphQLSchema): string {
  const keyed = printedSchema(schema)
    .replace(
      new RegExp(`^(type (?:${TYPES.join('|')}))\\b(?! @key)`, 'gm'),
      '$1 @key(fields: "id")',
    )
    // Removes `@defer` and `@stream`: a router defines them itself, and sends no deferred fragment to a subgraph.
    .replace(/^"""\n(?:(?!""").*\n)*?"""\ndirective @(?:defer|stream)\([^)]*\) on .*\n\n/gm, '');
  return `${LINK}${ONE_OF}${keyed}`;
}
