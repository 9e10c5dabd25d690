// GraphiQL with its HTTP fetcher and a client for subscriptions. The page is checked against graphiql.d.ts.
import { useEditorContext, useExecutionContext } from '@graphiql/react';
import { createGraphiQLFetcher } from '@graphiql/toolkit';
import { GraphiQL } from 'graphiql';
import { getOperationAST, parse } from 'graphql';
import { createClient } from 'graphql-ws';
import { createElement as h, useEffect, useRef } from 'react';
import { createRoot } from 'react-dom/client';
import { letTabLeave } from './keyboard.js';

export function renderGraphiQL(element, { runsAtOpening, onNotSent, ...options }) {
  createRoot(element).render(h(GraphiQL, options, h(Opening, { runsAtOpening, onNotSent })));
}

/** Prepares the editors, and runs the first tab's query once, so that a first visit shows an answer. */
function Opening({ runsAtOpening, onNotSent }) {
  const { queryEditor, variableEditor, headerEditor, responseEditor } = useEditorContext({
    nonNull: true,
  });
  const { run } = useExecutionContext({ nonNull: true });
  const hasRun = useRef(false);
  useEffect(() => letTabLeave(queryEditor, 'Operation'), [queryEditor]);
  useEffect(() => letTabLeave(variableEditor, 'Variables'), [variableEditor]);
  useEffect(() => letTabLeave(headerEditor, 'Headers'), [headerEditor]);
  useEffect(() => letTabLeave(responseEditor, 'Result'), [responseEditor]);
  useEffect(() => {
    responseEditor?.on('change', () => {
      if (NOT_SENT.test(responseEditor.getValue())) onNotSent();
    });
  }, [responseEditor, onNotSent]);
  useEffect(() => {
    if (!runsAtOpening || hasRun.current || !queryEditor || !responseEditor) return;
    hasRun.current = true;
    run();
  }, [runsAtOpening, queryEditor, responseEditor, run]);
  return null;
}

/** GraphiQL's own result when a pane has no JSON. It calls no fetcher then. */
const NOT_SENT = /^(?:Variables|Headers) are /;

/** Sends queries and mutations. Parts of `@defer` are merged by GraphiQL. */
export function createHttpFetcher(url, fetch) {
  const send = createGraphiQLFetcher({ url, fetch });
  // GraphiQL's parsed document is not passed on: with it, the library would look for subscriptions and require a client.
  return (params, headers) => send(params, { headers });
}

/** The events of a subscription. Each subscription has its own socket, because the next one may be for another user. */
export function subscribe(url, authorization, params) {
  const client = createClient({
    url: url.replace(/^http/, 'ws'),
    connectionParams: authorization === null ? {} : { authorization },
    shouldRetry: () => true,
  });
  return client.iterate(params);
}

/** The operation that the server would execute; null if the text is not GraphQL. */
export function operationOf(query, operationName) {
  try {
    const document = parse(query);
    const named = getOperationAST(document, operationName);
    // Just after a change of tabs GraphiQL still has the former tab's name.
    const first = document.definitions.find(({ kind }) => kind === 'OperationDefinition');
    const operation = named ?? first;
    return operation ? { kind: operation.operation, name: operation.name?.value ?? null } : null;
  } catch {
    return null;
  }
}
