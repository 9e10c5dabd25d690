type Values = Record<string, unknown>;

/** Returns an object with these names, whose values are null. */
export function blankWith(names: Iterable<string>): Values {
  return Object.fromEntries(Array.from(names, (name) => [name, null]));
}

/**
 * Copies such an object, so that its values can be set in a loop. Objects to which a loop adds names take longer, and V8
 * may store them as hash tables. A spread (`{ ...blank }`) is fast only if it copies few different shapes.
 */
export function copyOf(blank: Values): Values {
  return Object.assign({}, blank);
}
