/**
 * Returns an object with these names. As long as it is referenced, V8 keeps every other object fast that gets the same names
 * one after the other in a loop. Otherwise V8 stores an object with more than sixteen such names as a hash table, which takes
 * three times the memory and the time. A copy (`{ ...shape }`) is not faster: only few places in the code copy few shapes fast.
 */
export function shapeOf(names: Iterable<string>): object {
  return Object.fromEntries(Array.from(names, (name) => [name, null]));
}
