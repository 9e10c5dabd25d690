import { ToolbarButton, useEditorContext } from '@graphiql/react';
import { parse, print, separateOperations } from 'graphql';
import { Fragment, createElement as h } from 'react';

/** GraphiQL's tools, and those of the page: each receives what the open tab shows. */
export function Toolbar({ own, tools }) {
  const { queryEditor, variableEditor } = useEditorContext({ nonNull: true });
  const shown = () => {
    const query = queryEditor?.getValue() ?? '';
    const variables = variableEditor?.getValue() ?? '';
    return { query, variables, chosen: chosenOperation(query, queryEditor?.operationName) };
  };
  const added = tools.map(({ label, path, open }) =>
    h(
      ToolbarButton,
      { key: label, label, onClick: () => open(shown()) },
      h(
        'svg',
        {
          className: 'graphiql-toolbar-icon',
          viewBox: '0 0 24 24',
          fill: 'none',
          stroke: 'currentColor',
          strokeWidth: 2,
          'aria-hidden': true,
        },
        h('path', { d: path }),
      ),
    ),
  );
  return h(Fragment, null, own.prettify, own.merge, own.copy, ...added);
}

/** The operation that would be executed, with its fragments alone; null where the text is not GraphQL. */
function chosenOperation(query, operationName) {
  try {
    const document = parse(query);
    const operations = document.definitions.filter(({ kind }) => kind === 'OperationDefinition');
    const chosen = operations.find(({ name }) => name?.value === operationName) ?? operations[0];
    if (!chosen) return null;
    if (operations.length === 1) return { kind: chosen.operation, document: query };
    const alone = separateOperations(document)[chosen.name?.value ?? ''];
    return { kind: chosen.operation, document: print(alone) };
  } catch {
    return null;
  }
}
