const ids = new WeakMap<WeakKey, number>();
let last = 0;

/** A number for an object, or a symbol, of its own. */
export function identityOf(value: WeakKey): number {
  const known = ids.get(value);
  if (known !== undefined) return known;
  last += 1;
  ids.set(value, last);
  return last;
}

/** A text that only equal values share. What JSON would write like another, a symbol or an instance of a class without `toJSON`, is told by its identity. */
export function valueKey(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'symbol') {
    const name = Symbol.keyFor(value);
    return name === undefined ? `#${identityOf(value)}` : `@${JSON.stringify(name)}`;
  }
  if (typeof value === 'function') return `#${identityOf(value)}`;
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined';
  if (Array.isArray(value)) return `[${value.map(valueKey)}]`;
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    const isWritten = typeof (value as { toJSON?: unknown }).toJSON === 'function';
    return isWritten
      ? `#${identityOf(prototype)}${JSON.stringify(value)}`
      : `#${identityOf(value)}`;
  }
  const entries = Object.entries(value).map(
    ([name, each]) => `${JSON.stringify(name)}:${valueKey(each)}`,
  );
  return `{${entries}}`;
}
