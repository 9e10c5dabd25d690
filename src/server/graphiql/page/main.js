// The page's entry: GraphiQL between our two bars.
import { Account } from './account.js';
import { AnswerBar } from './answer-bar.js';
import { elementOf } from './elements.js';
import { createFetcher } from './fetcher.js';
import { SandboxUsers } from './sandbox-users.js';
import { openingTabs } from './tabs.js';

/** @type {import('./types.d.ts').PageConfig} */
const config = JSON.parse(elementOf('config', HTMLElement).textContent ?? '');
const { endpoint, workers, users, confirmedFields } = config;

self.MonacoEnvironment = {
  globalAPI: false,
  getWorkerUrl: (_moduleId, label) =>
    label === 'json' || label === 'graphql' ? workers[label] : workers.editor,
};

const signIn = users ? new SandboxUsers(endpoint, users, config.token) : new Account(endpoint);
const defaultTabs = openingTabs(config.examples);

YogaGraphiQL.renderYogaGraphiQL(elementOf('root', HTMLElement), {
  title: 'Trading Graph',
  fetcher: createFetcher({ endpoint, confirmedFields, signIn, answers: new AnswerBar() }),
  defaultTabs,
  // Null asks for none.
  ...(!config.introspection && { schema: null }),
  // Or the first tab would show what was edited last.
  initialQuery: defaultTabs[0]?.query,
  initialVariables: defaultTabs[0]?.variables ?? '',
  // A phone has no room for a third pane until it is asked for.
  defaultEditorToolsVisibility: matchMedia('(min-width: 700px)').matches ? 'variables' : false,
  shouldPersistHeaders: false,
  // Yoga's page would write each edit into the address, which soon is longer than servers accept.
  onEditQuery: () => {},
});

// A link to an operation that is followed on this very page changes nothing but the fragment.
addEventListener('hashchange', () => location.reload());
document.querySelectorAll('details.menu').forEach(closeMenu);

/**
 * Closes an open menu on Escape, and on a click elsewhere.
 *
 * @param {Element} menu
 */
function closeMenu(menu) {
  if (!(menu instanceof HTMLDetailsElement)) return;
  addEventListener('pointerdown', ({ target }) => {
    if (target instanceof Node && !menu.contains(target)) menu.open = false;
  });
  menu.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape') return;
    menu.open = false;
    menu.querySelector('summary')?.focus();
  });
}
