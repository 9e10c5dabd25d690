import { element } from './elements.js';
import { formatCount } from './format.js';

const MAX_ROWS = 200;
const MAX_COLUMNS = 30;

/**
 * A table for each list: a column for each field, also of the objects within.
 *
 * @param {readonly import('./result-lists.js').List[]} lists
 */
export function tablesOf(lists) {
  return lists.map(({ path, rows }) => {
    const shown = rows.slice(0, MAX_ROWS).map((row) => new Map(cells(row, '')));
    const columns = [...new Set(shown.flatMap((row) => [...row.keys()]))].slice(0, MAX_COLUMNS);
    const caption = element('caption', '', `${path}: ${formatCount(rows.length, 'row')}`);
    if (rows.length > MAX_ROWS) caption.append(`, the first ${MAX_ROWS} of them here`);
    const head = columns.map((name) => {
      const cell = element('th', '', name);
      cell.scope = 'col';
      return cell;
    });
    const body = shown.map((row) => {
      return element('tr', '', ...columns.map((name) => cellOf(row.get(name))));
    });
    return element(
      'table',
      '',
      caption,
      element('thead', '', element('tr', '', ...head)),
      element('tbody', '', ...body),
    );
  });
}

/**
 * @param {object} row
 * @param {string} prefix
 * @returns {Generator<[string, unknown]>}
 */
function* cells(row, prefix) {
  for (const [name, value] of Object.entries(row)) {
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
      yield* cells(value, `${prefix}${name}.`);
    } else yield [`${prefix}${name}`, value];
  }
}

/** @param {unknown} value */
function cellOf(value) {
  if (typeof value === 'number') return element('td', 'number', String(value));
  const text = Array.isArray(value) ? JSON.stringify(value) : String(value ?? '');
  return element('td', '', text);
}
