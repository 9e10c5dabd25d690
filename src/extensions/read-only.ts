import { memo } from '../../lib/memo.ts';

/** Frozen with all that they hold; their authors may have frozen others outside alone. */
const frozen = new WeakSet<object>();

/** The same object, which is the contract's and answers others too: an extension's code cannot change it. */
export function readOnly<Value>(value: Value): Value {
  if (!isPlain(value) || frozen.has(value)) return value;
  frozen.add(Object.freeze(value));
  for (const each of Object.values(value)) readOnly(each);
  return value;
}

/** Freezes JSON that nobody else holds yet. It is noted nowhere, which for the rows of a live list costs as much as their parsing. */
export function frozenJson<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  for (const each of Object.values(Object.freeze(value))) frozenJson(each);
  return value;
}

/** The copies of the lists and objects that the arguments of a request hold. */
const copiesOf = new WeakMap<object, WeakMap<object, object>>();

/** Arguments of one call's own; the rows of a request share what they hold, or each would cost the size of a long list. */
export function ownArguments(args: unknown, request: object): Record<string, unknown> {
  const copies = memo(copiesOf, request, () => new WeakMap<object, object>());
  const own: Record<string, unknown> = { ...(args as object) };
  for (const [name, value] of Object.entries(own))
    if (isPlain(value)) own[name] = memo(copies, value, () => ownCopy(value));
  return own;
}

/** A copy that nobody can change. Its getters are not asked. */
export function frozenCopy<Value>(value: Value): Value {
  const copies = new Map<object, object>();
  const copy = ownCopy(value, copies);
  for (const each of copies.values()) Object.freeze(each);
  return copy;
}

/** A copy of lists and plain objects, however deep. Instances of classes are passed on, and so is what is read-only. */
export function ownCopy<Value>(value: Value, copies = new Map<object, object>()): Value {
  const pending: (readonly [object, object])[] = [];
  const copyOf = (each: unknown): unknown => {
    if (!isPlain(each) || frozen.has(each)) return each;
    const known = copies.get(each);
    if (known !== undefined) return known;
    const copy = Array.isArray(each) ? [] : Object.create(Object.getPrototypeOf(each));
    copies.set(each, copy);
    pending.push([each, copy]);
    return copy;
  };
  const own = copyOf(value);
  for (const [from, to] of pending) {
    if (Array.isArray(from)) {
      for (const each of from) (to as unknown[]).push(copyOf(each));
      continue;
    }
    for (const name of Reflect.ownKeys(from)) {
      const property = Object.getOwnPropertyDescriptor(from, name) ?? {};
      if ('value' in property) property.value = copyOf(property.value);
      Object.defineProperty(to, name, property);
    }
  }
  return own as Value;
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null;
}
