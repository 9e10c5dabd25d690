/** The same object, which is the contract's and answers others too: an extension's code cannot change it. */
export function readOnly<Value>(value: Value): Value {
  if (!isPlain(value) || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const each of Object.values(value)) readOnly(each);
  return value;
}

/** A copy of lists and plain objects. Instances of classes are passed on, and so is what nobody can change. */
export function ownCopy<Value>(value: Value, copies = new Map<unknown, unknown>()): Value {
  if (!isPlain(value) || Object.isFrozen(value)) return value;
  const known = copies.get(value);
  if (known !== undefined) return known as Value;
  const copy = Array.isArray(value) ? [] : Object.create(Object.getPrototypeOf(value));
  copies.set(value, copy);
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    if ('value' in property) property.value = ownCopy(property.value, copies);
    Object.defineProperty(copy, name, property);
  }
  return copy;
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}
