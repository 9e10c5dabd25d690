// The documentation explorer: its state is there from the start, what draws it comes when it is opened.
import { DocsFilledIcon, DocsIcon, usePluginStore } from '@graphiql/react';
import { createElement as h } from 'react';
import { whenOpened } from './when-opened.js';

export { DocExplorerContextProvider } from 'doc-explorer/context.js';

export const DOC_EXPLORER_PLUGIN = {
  title: 'Documentation Explorer',
  icon: () => {
    const { visiblePlugin } = usePluginStore();
    return h(visiblePlugin === DOC_EXPLORER_PLUGIN ? DocsFilledIcon : DocsIcon);
  },
  content: whenOpened(async () => {
    const opened = import('doc-explorer/components/doc-explorer.js');
    await import('./help.js');
    return (await opened).DocExplorer;
  }),
};
