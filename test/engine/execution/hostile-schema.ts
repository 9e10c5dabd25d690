import {
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLFieldConfig,
  GraphQLFloat,
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  getNamedType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { pick, type Random } from '../../../sandbox/random.ts';
import { perGroup } from '../../../src/schema/sharing.ts';

/** The values that resolvers return: each is made once, so that a second execution reads the same. */
export interface Stage {
  readonly random: Random;
  /** The number of values that are not what the schema says. */
  readonly hostility: number;
  readonly known: WeakMap<object, Map<string, unknown>>;
}

export function createStage(random: Random, hostility: number): Stage {
  return { random, hostility, known: new WeakMap() };
}

const Side = new GraphQLEnumType({
  name: 'Side',
  // The names differ from those in the schema.
  values: { BUY: { value: 'b' }, SELL: { value: 2 }, NONE: {} },
});
/** What it returns is an object with a `toJSON`. */
const DateTime = new GraphQLScalarType({
  name: 'DateTime',
  coerceOutputValue(value) {
    if (typeof value === 'number') return new Date(value);
    const date = new Date(value instanceof Date || typeof value === 'string' ? value : Number.NaN);
    if (Number.isNaN(date.getTime())) throw new Error('DateTime refuses it');
    return date;
  },
});
const AnyJson = new GraphQLScalarType({ name: 'JSON' });
const Fussy = new GraphQLScalarType({
  name: 'Fussy',
  coerceOutputValue(value) {
    if (value === 'refused') throw new Error('Fussy refuses it');
    return value === 'nothing' ? undefined : value;
  },
});
const Size = new GraphQLInputObjectType({
  name: 'Size',
  isOneOf: true,
  fields: { units: { type: GraphQLFloat }, amount: { type: GraphQLFloat } },
});
const Filter: GraphQLInputObjectType = new GraphQLInputObjectType({
  name: 'Filter',
  fields: () => ({
    text: { type: GraphQLString },
    ids: { type: new GraphQLList(new GraphQLNonNull(GraphQLID)) },
    side: { type: Side, default: { value: 'BUY' } },
    size: { type: Size },
    deep: { type: Filter },
    must: { type: new GraphQLNonNull(GraphQLInt) },
  }),
});

type Fields = Record<string, GraphQLFieldConfig<unknown, Stage>>;

const leaves = {
  id: GraphQLID,
  text: GraphQLString,
  count: GraphQLInt,
  ratio: GraphQLFloat,
  flag: GraphQLBoolean,
  side: Side,
  at: DateTime,
  fussy: Fussy,
};

function leafFields(): Fields {
  const fields: Fields = {};
  for (const [name, type] of Object.entries(leaves)) {
    fields[name] = { type };
    fields[`${name}Must`] = { type: new GraphQLNonNull(type) };
    fields[`${name}List`] = { type: new GraphQLList(new GraphQLNonNull(type)) };
    fields[`${name}Read`] = { type, resolve: read(`${name}Read`, type) };
  }
  return fields;
}

const Node: GraphQLObjectType = new GraphQLObjectType<unknown, Stage>({
  name: 'Node',
  fields: () => ({ ...leafFields(), ...nodeFields(true), ...echo(), length: { type: GraphQLInt } }),
});
const Thing = new GraphQLInterfaceType({
  name: 'Thing',
  fields: { id: { type: GraphQLID } },
  resolveType: () => 'Apple',
});
const Apple = new GraphQLObjectType<unknown, Stage>({
  name: 'Apple',
  interfaces: [Thing],
  fields: { id: { type: GraphQLID }, text: { type: GraphQLString } },
});
const Pear = new GraphQLObjectType({ ...Apple.toConfig(), name: 'Pear' });

function nodeFields(withProperties: boolean): Fields {
  const types: Record<string, GraphQLOutputType> = {
    node: Node,
    nodeMust: new GraphQLNonNull(Node),
    nodes: new GraphQLList(Node),
    nodesMust: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(Node))),
    grid: new GraphQLList(new GraphQLList(Node)),
  };
  const fields: Fields = {};
  for (const [name, type] of Object.entries(types)) {
    if (withProperties) fields[name] = { type };
    fields[`${name}Read`] = { type, resolve: read(`${name}Read`, type) };
  }
  fields.thing = { type: Thing, resolve: read('thing', Apple) };
  return fields;
}

/** Returns the arguments as they were received. */
function echo(): Fields {
  return {
    echo: {
      // Postponed where the answer is made in slices.
      ...perGroup,
      type: AnyJson,
      args: {
        text: { type: GraphQLString },
        must: { type: new GraphQLNonNull(GraphQLID) },
        count: { type: GraphQLInt, default: { value: 5 } },
        side: { type: Side },
        sides: { type: new GraphQLList(Side), default: { value: ['BUY', 'NONE'] } },
        filter: { type: Filter },
        ids: { type: new GraphQLList(new GraphQLNonNull(GraphQLID)) },
      },
      resolve: (_source, args) => args,
    },
  };
}

export const hostileSchema = new GraphQLSchema({
  query: new GraphQLObjectType<unknown, Stage>({
    name: 'Query',
    fields: () => ({ ...nodeFields(false), ...echo() }),
  }),
  subscription: new GraphQLObjectType<unknown, Stage>({
    name: 'Subscription',
    fields: () => ({
      node: { type: new GraphQLNonNull(Node), resolve: (event) => event },
      nodes: { type: new GraphQLList(Node), resolve: (event) => [event, event] },
      bare: { type: Node },
    }),
  }),
  types: [Apple, Pear],
});

function read(name: string, type: GraphQLOutputType) {
  return (source: unknown, _args: unknown, stage: Stage): unknown => {
    const owner = typeof source === 'object' && source !== null ? source : stage;
    const known = stage.known.get(owner) ?? new Map<string, unknown>();
    stage.known.set(owner, known);
    if (!known.has(name)) known.set(name, attempt(stage, type));
    const found = known.get(name);
    if (found instanceof Thrown) throw found.cause;
    return found;
  };
}

class Thrown {
  readonly cause: unknown;

  constructor(cause: unknown) {
    this.cause = cause;
  }
}

/** A value returned synchronously or later, or a failure of either kind. */
function attempt(stage: Stage, type: GraphQLOutputType): unknown {
  const { random, hostility } = stage;
  const isLater = random() < 0.5;
  if (random() < hostility) {
    const extended = Object.assign(new Error('extended'), { extensions: { code: 'OWN' } });
    const cause = pick(random, [new Error('broken'), extended, 'a text', undefined, null]);
    return isLater ? quiet(Promise.reject(cause)) : new Thrown(cause);
  }
  const value = anyValue(stage, type);
  return isLater ? quiet(Promise.resolve(value)) : value;
}

function anyValue(stage: Stage, type: GraphQLOutputType, depth = 0): unknown {
  const { random, hostility } = stage;
  if (random() < hostility) return hostileValue(random);
  if (!isNonNullType(type)) return random() < 0.1 ? null : presentValue(stage, type, depth);
  return presentValue(stage, type.ofType, depth);
}

function presentValue(stage: Stage, type: GraphQLOutputType, depth: number): unknown {
  const { random } = stage;
  if (isListType(type)) {
    const length = depth > 3 ? 0 : Math.floor(random() * 4);
    return Array.from({ length }, () => anyValue(stage, type.ofType, depth + 1));
  }
  if (isObjectType(type)) return nodeOf(stage, type, depth + 1);
  if (isEnumType(type)) return pick(random, ['b', 2, 'NONE']);
  return leafValue(getNamedType(type).name, random);
}

function leafValue(name: string, random: Random): unknown {
  switch (name) {
    case 'Int':
      return pick(random, [0, -0, 1, 2147483647, -2147483648]);
    case 'Float':
      return pick(random, [0, -0, 1.5, 1e308, 5e-324, Number.MAX_SAFE_INTEGER]);
    case 'Boolean':
      return random() < 0.5;
    case 'DateTime':
      return new Date(1_700_000_000_000);
    default:
      return pick(random, ['', 'a', '"', '\u2028', '\ud800', '__proto__']);
  }
}

/** Its properties are made when they are first looked at, and stay. */
function nodeOf(stage: Stage, type: GraphQLObjectType, depth: number): object {
  const node = {};
  for (const { name, type: of, resolve } of Object.values(type.getFields())) {
    if (resolve) continue;
    let made: { readonly value: unknown } | undefined;
    Object.defineProperty(node, name, {
      get() {
        made ??= { value: anyValue(stage, of, depth) };
        if (made.value instanceof Thrown) throw made.value.cause;
        return made.value;
      },
    });
  }
  return node;
}

function hostileValue(random: Random): unknown {
  const make = pick<() => unknown>(random, [
    () => null,
    () => undefined,
    () => Number.NaN,
    () => Infinity,
    () => 2 ** 31,
    () => 1.5,
    () => '12',
    () => '',
    () => 12,
    () => 12n,
    () => true,
    () => ({}),
    () => [],
    () => [null],
    () => new Set(['a']),
    () => new Error('a value that is an error'),
    () => () => 'called',
    () => quiet(Promise.resolve('later')),
    () => quiet(Promise.reject(new Error('later, and broken'))),
    () => [quiet(Promise.resolve('later')), quiet(Promise.reject(new Error('one of a list')))],
    () => ({ valueOf: () => 7 }),
    () => new Date(Number.NaN),
    () => Symbol('no text'),
    () => new Thrown(new Error('a getter that throws')),
    () => 'refused',
    () => 'nothing',
    // biome-ignore lint/suspicious/noThenProperty: a thenable that is no promise
    () => ({ then: (done: (value: string) => void) => done('synchronous') }),
  ]);
  return make();
}

/** Marks the rejection as handled: it may come before an executor awaits the promise. */
function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
