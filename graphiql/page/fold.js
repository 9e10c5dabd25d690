/** @typedef {Readonly<Record<string, unknown>>} Stand */

/**
 * The account as it stands after an event of changes: its lists as they are now, and the last that was said of all else. Null where
 * that cannot be told, since `snapshot`, an `id` or `closed` was not asked for.
 *
 * @param {Stand | null} before
 * @param {Stand} event
 * @param {string} list The name of the list whose changes stand in the event itself.
 * @param {import('./types.d.ts').ApplyChanges} applyChanges The client's own.
 * @returns {Stand | null}
 */
export function standAfter(before, event, list, applyChanges) {
  const { snapshot, cursor: _cursor, upserted, ticks, opened: _opened, closed, ...rest } = event;
  const known = snapshot ? {} : before;
  if (snapshot === undefined || known === null) return null;
  const parts = upserted ? { ...rest, [list]: { upserted, ticks, closed } } : rest;
  /** @type {Record<string, unknown>} */
  const stand = { ...known };
  for (const [name, part] of Object.entries(parts)) {
    const { upserted: rows, ticks: moved, opened: _, closed: gone, ...figures } = Object(part);
    if (rows) {
      if (!gone || rows.some((/** @type {object} */ row) => !('id' in row))) return null;
      const held = /** @type {{ id: string }[]} */ (known[name] ?? []);
      const changes = { upserted: rows, ticks: moved, closed: gone };
      stand[name] = applyChanges(held, changes, ({ id }) => id);
      if (stand[name] === null) return null;
      for (const [figure, value] of Object.entries(figures)) stand[`${name}.${figure}`] = value;
    } else if (part !== null) stand[name] = part;
  }
  return stand;
}
