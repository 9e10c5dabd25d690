// The page gets one function of GraphiQL, and parts of the client. Code that is drawn only when it is opened is loaded then.
import { useEditorContext, useSchemaStore } from '@graphiql/react';
import { GraphiQL } from 'graphiql';
import { createElement as h, useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { Keyboard } from './keyboard.js';
import { GroupOf } from './tabs.js';
import { Toolbar } from './toolbar.js';
import { whenOpened } from './when-opened.js';

export { applyChanges } from '../../client/src/live/rows.ts';
export { EventStreamReader } from '../../client/src/subscribe/event-stream.ts';

const QUERY_BUILDER = {
  title: 'GraphiQL Explorer',
  icon: () =>
    h(
      'svg',
      { viewBox: '0 0 24 24', fill: 'none', stroke: 'currentColor', strokeWidth: 1.5 },
      h('path', { d: 'M8 6h12M8 12h12M8 18h12M3 5h2v2H3zM3 11h2v2H3zM3 17h2v2H3z' }),
    ),
  content: whenOpened(async () => (await import('./explorer.js')).content),
};

/**
 * @param {Element} element
 * @param {object} options The properties of GraphiQL's component, the tools that the page adds to its toolbar, and the groups of
 * its tabs.
 */
export function renderGraphiQL(element, { tools = [], groupOf, ...options }) {
  createRoot(element).render(
    h(
      GroupOf,
      { value: groupOf },
      h(
        GraphiQL,
        { ...options, plugins: [QUERY_BUILDER] },
        h(GraphiQL.Toolbar, null, (own) => h(Toolbar, { own, tools })),
        h(Keyboard),
        h(Help),
      ),
    ),
  );
}

/** Loads the help while typing behind the schema, which it needs: on a slow line neither keeps a query waiting. */
function Help() {
  const { queryEditor, variableEditor } = useEditorContext({ nonNull: true });
  const { schema, fetchError, shouldIntrospect } = useSchemaStore();
  const isTime = Boolean(schema || fetchError || !shouldIntrospect);
  useEffect(() => {
    if (!isTime || !queryEditor || !variableEditor) return;
    const lint = () => {
      queryEditor.performLint();
      variableEditor.performLint();
    };
    import('./help.js').then(lint, () => {});
  }, [isTime, queryEditor, variableEditor]);
  return null;
}
