// Writing an answer recurses, and a client's parser may as well.
const MAX_LEVELS = 200;

/** A copy of a value as JSON carries it, which cannot fail or change while it is written. Throws for what JSON cannot carry. */
export function plainJson(value: unknown): unknown {
  return copy(value, 0, '');
}

function copy(given: unknown, level: number, key: string): unknown {
  if (level > MAX_LEVELS) throw new TypeError(`JSON value of more than ${MAX_LEVELS} levels`);
  const value = hasToJson(given) ? given.toJSON(key) : given;
  if (typeof value === 'bigint') throw new TypeError('JSON value with a BigInt');
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Number || value instanceof String || value instanceof Boolean) {
    return copy(value.valueOf(), level, key);
  }
  if (Array.isArray(value)) {
    return value.map((each, at) => copy(each, level + 1, String(at)) ?? null);
  }
  const made: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const each = copy((value as Record<string, unknown>)[name], level + 1, name);
    if (each === undefined) continue;
    // A plain assignment to `__proto__` would set the prototype.
    if (name === '__proto__') Object.defineProperty(made, name, { value: each, enumerable: true });
    else made[name] = each;
  }
  return made;
}

function hasToJson(value: unknown): value is { toJSON(key: string): unknown } {
  if (typeof value !== 'object' || value === null) return false;
  return typeof (value as { toJSON?: unknown }).toJSON === 'function';
}
