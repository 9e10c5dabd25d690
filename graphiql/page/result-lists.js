const MAX_LISTS = 5;

/**
 * @typedef {{ path: string, rows: readonly object[] }} List
 */

/**
 * The lists of objects in an answer.
 *
 * @param {unknown} data
 * @returns {readonly List[]}
 */
export function listsIn(data) {
  return [...found(data, '')].slice(0, MAX_LISTS);
}

/**
 * @param {unknown} value
 * @param {string} path
 * @returns {Generator<List>}
 */
function* found(value, path) {
  if (Array.isArray(value)) {
    // A list within a list would be a table for each row.
    const rows = value.filter((row) => row !== null && typeof row === 'object');
    if (rows.length > 0) yield { path, rows };
    return;
  }
  if (value === null || typeof value !== 'object') return;
  for (const [name, inner] of Object.entries(value)) {
    yield* found(inner, path ? `${path}.${name}` : name);
  }
}
