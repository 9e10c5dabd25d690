import {
  buildSchema,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { pick, type Random } from '../../../../src/sandbox/random.ts';

/** The values that resolvers return. Each is made once, so that a second execution reads the same value. */
export interface Stage {
  readonly random: Random;
  /** The share of values that do not conform to the schema. */
  readonly hostility: number;
  readonly known: WeakMap<object, Map<string, unknown>>;
}

export function createStage(random: Random, hostility: number): Stage {
  return { random, hostility, known: new WeakMap() };
}

const LEAVES = ['id: ID', 'text: String', 'count: Int', 'ratio: Float', 'flag: Boolean'];
const OWN_LEAVES = ['side: Side', 'at: DateTime', 'fussy: Fussy'];
const NODES = [
  'node: Node',
  'nodeMust: Node!',
  'nodes: [Node]',
  'nodesMust: [Node!]!',
  'grid: [[Node]]',
];

/** Each leaf is also a field that is not null (`Must`), a list (`List`), and a field with a resolver (`Read`). */
const leaves = [...LEAVES, ...OWN_LEAVES].map((leaf) => {
  const [name, type] = leaf.split(': ');
  return `${leaf} ${name}Must: ${type}! ${name}List: [${type}!] ${name}Read: ${type}`;
});
const READS = `
  ${NODES.map((node) => node.replace(':', 'Read:')).join(' ')}
  thing: Thing
  echo(
    text: String, must: ID!, count: Int = 5, side: Side, sides: [Side] = [BUY, NONE],
    filter: Filter, ids: [ID!]
  ): JSON`;

export const hostileSchema = buildSchema(`
  enum Side { BUY SELL NONE }
  scalar DateTime
  scalar JSON
  scalar Fussy
  input Size @oneOf { units: Float amount: Float }
  input Filter { text: String ids: [ID!] side: Side = BUY size: Size deep: Filter must: Int! }
  interface Thing { id: ID }
  type Apple implements Thing { id: ID text: String }
  type Pear implements Thing { id: ID text: String }
  type Node { ${leaves.join(' ')} ${NODES.join(' ')} ${READS} length: Int }
  type Query { ${READS} }
  type Subscription { node: Node! nodes: [Node] bare: Node }
`);

function setOptions(name: string, options: object): void {
  Object.assign(hostileSchema.getType(name) as object, options);
}

const Side = hostileSchema.getType('Side');
if (isEnumType(Side)) {
  // Internal values differ from the names in the schema.
  Object.assign(Side.getValue('BUY') as object, { value: 'b' });
  Object.assign(Side.getValue('SELL') as object, { value: 2 });
}
setOptions('Thing', { resolveType: () => 'Apple' });
setOptions('DateTime', {
  /** Returns an object with a `toJSON`. */
  coerceOutputValue(value: unknown) {
    if (typeof value === 'number') return new Date(value);
    const isKnown = value instanceof Date || typeof value === 'string';
    const date = new Date(isKnown ? value : Number.NaN);
    if (Number.isNaN(date.getTime())) throw new Error('DateTime refuses it');
    return date;
  },
});
setOptions('Fussy', {
  coerceOutputValue(value: unknown) {
    if (value === 'refused') throw new Error('Fussy refuses it');
    return value === 'nothing' ? undefined : value;
  },
});

const fieldsOf = (name: string) => (hostileSchema.getType(name) as GraphQLObjectType).getFields();
const Apple = hostileSchema.getType('Apple') as GraphQLObjectType;

for (const field of ['Query', 'Node'].flatMap((name) => Object.values(fieldsOf(name)))) {
  const { name, type } = field;
  if (name.endsWith('Read')) field.resolve = read(name, type);
  if (name === 'thing') field.resolve = read(name, Apple);
  // This field returns its arguments unchanged.
  if (name === 'echo') Object.assign(field, { resolve: (_: unknown, args: object) => args });
}
Object.assign(fieldsOf('Subscription').node as object, { resolve: (event: unknown) => event });
Object.assign(fieldsOf('Subscription').nodes as object, {
  resolve: (event: unknown) => [event, event],
});

/** A resolver that makes its value or failure once for each source. */
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

/** A failure that is thrown when a field or a property is read. */
class Thrown {
  readonly cause: unknown;

  constructor(cause: unknown) {
    this.cause = cause;
  }
}

/** A random value or failure, either synchronous or in a promise. */
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

const TEXTS = ['', 'a', '"', '\u2028', '\ud800', '__proto__'];
const LEAF_VALUES: Readonly<Record<string, readonly unknown[]>> = {
  Int: [0, -0, 1, 2147483647, -2147483648],
  Float: [0, -0, 1.5, 1e308, 5e-324, Number.MAX_SAFE_INTEGER],
  Boolean: [true, false],
  DateTime: [new Date(1_700_000_000_000)],
};

function presentValue(stage: Stage, type: GraphQLOutputType, depth: number): unknown {
  const { random } = stage;
  if (isListType(type)) {
    const length = depth > 3 ? 0 : Math.floor(random() * 4);
    return Array.from({ length }, () => anyValue(stage, type.ofType, depth + 1));
  }
  if (isObjectType(type)) return nodeOf(stage, type, depth + 1);
  if (isEnumType(type)) return pick(random, ['b', 2, 'NONE']);
  return pick(random, LEAF_VALUES[getNamedType(type).name] ?? TEXTS);
}

/** Makes each property at its first access. Later reads get the same value. */
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

const PRIMITIVES = [null, undefined, Number.NaN, Infinity, 2 ** 31, 1.5, '12', '', 12, 12n, true];

function hostileValue(random: Random): unknown {
  const make = pick<() => unknown>(random, [
    ...PRIMITIVES.map((value) => () => value),
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

/** Marks a rejection as handled, because it may happen before an executor awaits the promise. */
function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
