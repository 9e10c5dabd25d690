const TABS = 'graphiql:tabState';

/**
 * The tabs of the last visit, or the examples. If the address has an operation, its tab comes first: the operation is in
 * `#query=…&variables=…` or `?query=…&variables=…`.
 *
 * @param {readonly import('./examples.d.ts').Example[]} examples
 * @returns {{ tabs: readonly import('./types.d.ts').Tab[], isFirstVisit: boolean }}
 */
export function openingTabs(examples) {
  const kept = keptTabs();
  const exampleTabs = examples.map(({ query, variables }) =>
    tabOf(query, variables && toText(variables)),
  );
  const others = kept.length > 0 ? kept : exampleTabs;
  const linked = takeLinkedTab();
  const tabs =
    linked === null ? others : [linked, ...others.filter(({ query }) => query !== linked.query)];
  // GraphiQL would restore its own record of the tabs, and add an empty tab. It ignores a record in this form.
  localStorage.setItem(TABS, JSON.stringify({ tabs }));
  return { tabs, isFirstVisit: kept.length === 0 };
}

/** Returns the tab of the address, and removes it from the address, so that a reload does not open it again. */
function takeLinkedTab() {
  const { pathname, search, hash } = location;
  for (const text of [hash.slice(1), search]) {
    const parameters = new URLSearchParams(text);
    const query = parameters.get('query');
    if (!query?.trim()) continue;
    const user = new URLSearchParams(search).get('user');
    const address = user ? `${pathname}?${new URLSearchParams({ user })}` : pathname;
    history.replaceState(null, '', address);
    return tabOf(query, parameters.get('variables'));
  }
  return null;
}

function keptTabs() {
  /** @type {{ query?: string | null, variables?: string | null }[]} */
  const tabs = parsed(localStorage.getItem(TABS))?.tabs ?? [];
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
