const TABS = 'graphiql:tabState';

/**
 * The tabs of the last visit, or the examples; in front of them the operation of the address, from
 * `#query=…&variables=…` or `?query=…&variables=…`.
 *
 * @param {readonly import('./examples.d.ts').Example[]} examples
 * @returns {import('./types.d.ts').Tab[]}
 */
export function openingTabs(examples) {
  const linked = takeLinkedTab();
  const kept = takeKeptTabs();
  const tabs =
    kept.length > 0
      ? kept
      : examples.map(({ query, variables }) => tabOf(query, variables && toText(variables)));
  if (linked === null) return tabs;
  return [linked, ...tabs.filter((tab) => tab.query !== linked.query)];
}

/** Takes it out of the address as well, so that a reload does not open it again. */
function takeLinkedTab() {
  const { pathname, search, hash } = location;
  for (const text of [hash.slice(1), search]) {
    const parameters = new URLSearchParams(text);
    const query = parameters.get('query');
    if (!query?.trim()) continue;
    const user = new URLSearchParams(search).get('user');
    history.replaceState(
      null,
      '',
      user ? `${pathname}?${new URLSearchParams({ user })}` : pathname,
    );
    return tabOf(query, parameters.get('variables'));
  }
  return null;
}

/** GraphiQL would restore them beside an empty one, so they are taken from its storage and passed in. */
function takeKeptTabs() {
  /** @type {{ query?: string | null, variables?: string | null }[]} */
  const tabs = parsed(localStorage.getItem(TABS))?.tabs ?? [];
  localStorage.removeItem(TABS);
  return tabs.flatMap(({ query, variables }) => (query?.trim() ? [tabOf(query, variables)] : []));
}

/** @param {string | null} text */
function parsed(text) {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}

/**
 * @param {string} query
 * @param {string | null | undefined} variables
 */
function tabOf(query, variables) {
  return variables?.trim() ? { query, variables } : { query };
}

/** @param {unknown} value */
function toText(value) {
  return JSON.stringify(value, null, 2);
}
