import {
  GraphQLBoolean,
  type GraphQLFieldResolver,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  type GraphQLLeafType,
  GraphQLString,
} from 'graphql';
import { memo } from '../../lib/memo.ts';
import { extraForText } from '../operation/meter.ts';
import type { FieldIr, ObjectIr, OperationIr, ResolverIr, ValueIr } from './operation-ir.ts';
import type { Run, RunRoot } from './run.ts';

/**
 * Generates a function per selection set that writes its object as one literal, so that a list's objects have one hidden
 * class. The only client input in the code is names, which GraphQL restricts to letters, digits and underscores.
 */
export function generate({ root }: OperationIr) {
  const writer = new Writer();
  const entry = writer.object(root, true);
  const make = new Function('leaves', 'resolvers', 'NOT_WHOLE', writer.text(entry));
  return {
    root: make(writer.leaves, writer.resolvers, NOT_WHOLE) as RunRoot,
    args: writer.args,
  };
}

// Enough for one call of JSON.stringify, and few enough to die young.
const FIELDS_PER_CHUNK = 1_000;

class Writer {
  readonly leaves: ReadLeaf[] = [];
  readonly resolvers: GraphQLFieldResolver<unknown, unknown>[] = [];
  /** The arguments of the fields that have a resolver, by the number of the field. */
  readonly args: ResolverIr['args'][] = [];
  readonly #leafNames = new Map<GraphQLLeafType, string>();
  readonly #functions: string[] = [];

  text(entry: string): string {
    const leaves = this.leaves.map((_, at) => `const leaf${at} = leaves[${at}];`);
    const resolvers = this.resolvers.map((_, at) => `const resolve${at} = resolvers[${at}];`);
    return ['"use strict";', ...leaves, ...resolvers, ...this.#functions, `return ${entry};`].join(
      '\n',
    );
  }

  /** Returns the name of the function that completes a `source` to the object. */
  object(ir: ObjectIr, isRoot = false): string {
    const literal: string[] = [];
    const resolved: string[] = [];
    for (const field of ir.fields) {
      literal.push(`${keyOf(field.key)}: ${this.#placed(field, ir.typeName)}`);
      if (!field.resolver) continue;
      resolved.push(this.#resolved(field, field.resolver));
    }
    const name = `object${this.#functions.length}`;
    this.#functions.push(`function ${name}(run, source) {
  ${isRoot ? '' : 'if (source === null || typeof source !== "object" || source instanceof Error || typeof source.then === "function") throw NOT_WHOLE;'}
  run.count(${ir.weight});
  let value;
  const target = { ${literal.join(', ')} };
  ${resolved.join('\n  ')}
  return target;
}`);
    return name;
  }

  /** Reserves a field's place in the literal; a resolver's value is assigned to it afterwards. */
  #placed({ property, value, resolver }: FieldIr, typeName: string): string {
    if (property === null) return quoted(typeName);
    if (resolver) return 'null';
    return this.#read(value, `source[${quoted(property)}]`);
  }

  #resolved({ key, value }: FieldIr, { resolve, args, isPostponable }: ResolverIr): string {
    const at = this.resolvers.push(resolve) - 1;
    this.args.push(args);
    const complete = `complete${at}`;
    this.#functions.push(`function ${complete}(run, found) {
  let value;
  return ${this.#read(value, 'found')};
}`);
    const place = `{ complete: ${complete}, target, key: ${quoted(key)} }`;
    const postponed = isPostponable
      ? `if (run.isCostly && run.isDue()) run.resolveLater(resolve${at}, source, ${at}, ${place}); else `
      : '';
    return `${postponed}{
    const found = resolve${at}(source, run.args[${at}], run.context);
    if (found !== null && typeof found === "object" && typeof found.then === "function") run.wait(found, ${complete}, target, ${quoted(key)});
    else target[${quoted(key)}] = ${complete}(run, found);
  }`;
  }

  /** Returns an expression for the completed value of `from`. */
  #read(ir: ValueIr, from: string): string {
    const shown = this.#shown(ir);
    if (ir.isNonNull) return shown(from);
    return `(value = ${from}) == null ? null : ${shown('value')}`;
  }

  #shown(ir: ValueIr): (from: string) => string {
    switch (ir.kind) {
      case 'leaf': {
        const leaf = this.#leaf(ir.type);
        return (from) => `${leaf}(${from}, run)`;
      }
      case 'object': {
        const object = this.object(ir.object);
        return (from) => `${object}(run, ${from})`;
      }
      case 'list': {
        const { item } = ir;
        const list = isOfObjects(item) ? this.#listOfObjects(item) : this.#listOfLeaves(item);
        return (from) => `${list}(run, ${from})`;
      }
    }
  }

  #listOfLeaves(item: ValueIr): string {
    const read = this.#read(item, 'values[at]');
    const name = `list${this.#functions.length}`;
    this.#functions.push(`function ${name}(run, values) {
  if (!Array.isArray(values)) throw NOT_WHOLE;
  run.countList(values.length);
  let value;
  const items = [];
  for (let at = 0; at < values.length; at += 1) items.push(${read});
  return items;
}`);
    return name;
  }

  /** Completes the items that fit into this turn; the rest follows into the same array. An item without a task is complete. */
  #listOfObjects(item: ValueIr): string {
    const read = this.#read(item, 'values[at]');
    const name = `list${this.#functions.length}`;
    const rest = `rest${this.#functions.length}`;
    this.#functions.push(`function ${rest}(run, values, items, at) {
  let value;
  let from = items.length;
  let pending = run.pending;
  let writeAt = run.fields + ${FIELDS_PER_CHUNK};
  for (; at < values.length; at += 1) {
    if (run.fields >= run.lookAt || run.fields >= writeAt) {
      from = run.pending === pending ? run.written(items, from) : items.length;
      pending = run.pending;
      writeAt = run.fields + ${FIELDS_PER_CHUNK};
      if (run.fields >= run.lookAt && run.isDue()) {
        run.later(${rest}, values, items, at);
        return items;
      }
    }
    items.push(${read});
  }
  if (from > 0 && run.pending === pending) run.written(items, from);
  return items;
}
function ${name}(run, values) {
  if (!Array.isArray(values)) throw NOT_WHOLE;
  return ${rest}(run, values, [], 0);
}`);
    return name;
  }

  #leaf(type: GraphQLLeafType): string {
    return memo(this.#leafNames, type, () => `leaf${this.leaves.push(leafOf(type)) - 1}`);
  }
}

function isOfObjects(value: ValueIr): boolean {
  return value.kind === 'list' ? isOfObjects(value.item) : value.kind === 'object';
}

/** A computed key, because a plain `__proto__` would set the literal's prototype. */
function keyOf(name: string): string {
  return name === '__proto__' ? `[${quoted(name)}]` : quoted(name);
}

const NAME = /^[_A-Za-z][_0-9A-Za-z]*$/;

function quoted(name: string): string {
  if (!NAME.test(name)) throw new Error('not a name of the language');
  return `"${name}"`;
}

type ReadLeaf = (value: unknown, run: Run) => unknown;

/** Thrown where an answer would be incomplete: the reference executor then reports the error. A singleton has no stack to capture. */
const NOT_WHOLE = new Error('the answer would not be whole');

/** Serializes a leaf as its type does. Nearly all values serialize to themselves, and skip the type's function. */
function leafOf(type: GraphQLLeafType): ReadLeaf {
  const asked: ReadLeaf = (value) => ask(type, value);
  switch (type) {
    case GraphQLString:
    case GraphQLID:
      return (value, run) => (typeof value === 'string' ? text(value, run) : asked(value, run));
    case GraphQLFloat:
      return (value) =>
        typeof value === 'number' && Number.isFinite(value) ? value : ask(type, value);
    case GraphQLInt:
      return (value) => (isInt(value) ? value : ask(type, value));
    case GraphQLBoolean:
      return (value) => (typeof value === 'boolean' ? value : ask(type, value));
    default:
      return asked;
  }
}

function text(value: string, run: Run): string {
  const extra = extraForText(value.length);
  if (extra > 0) run.count(extra);
  return value;
}

function ask(type: GraphQLLeafType, value: unknown): unknown {
  if (value == null || value instanceof Error || isDeferred(value)) throw NOT_WHOLE;
  const shown = type.coerceOutputValue(value);
  if (shown == null) throw NOT_WHOLE;
  return shown;
}

function isInt(value: unknown): value is number {
  return typeof value === 'number' && (value | 0) === value;
}

/** Promises and methods are left to the reference executor: no leaf of this schema is either. */
function isDeferred(value: NonNullable<unknown>): boolean {
  return typeof value === 'function' || typeof (value as { then?: unknown }).then === 'function';
}
