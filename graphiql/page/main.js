// The page's entry: GraphiQL between our two bars.
import { Account } from './account.js';
import { AnswerBar } from './answer-bar.js';
import { elementOf } from './elements.js';
import { CONFIRMED_FIELDS, EXAMPLES, groupOf } from './examples.js';
import { createFetcher } from './fetcher.js';
import { loadGraphiQL } from './loading.js';
import { SandboxUsers } from './sandbox-users.js';
import { openingTabs } from './tabs.js';

/** @typedef {import('./types.d.ts').ShownOperation} ShownOperation */

/** @type {import('./types.d.ts').PageConfig} */
const config = JSON.parse(elementOf('config', HTMLElement).textContent ?? '');
const { credentials, users } = config;
const endpoint = new URL(config.endpoint, location.href).href;
/** @type {import('./types.d.ts').Post} */
const post = (headers, body, signal) =>
  fetch(endpoint, { method: 'POST', credentials, headers, body, signal: signal ?? null });
// The sandbox's money is pretended.
const confirmedFields = users ? [] : CONFIRMED_FIELDS;

const signIn = users ? new SandboxUsers(post, users, config.token) : new Account(post);
const defaultTabs = tabsOrReason();

const { applyChanges, EventStreamReader, renderGraphiQL } = await loadGraphiQL(config.graphiql);
const answers = new AnswerBar(applyChanges);
const dialogs = () => import('./code-dialog.js');
renderGraphiQL(elementOf('root', HTMLElement), {
  tools: [
    {
      label: 'Show as code',
      path: 'M8 6l-6 6 6 6M16 6l6 6-6 6',
      open: async (/** @type {ShownOperation} */ shown) => {
        const authorization = await signIn.authorization().catch(() => null);
        (await dialogs()).showCode(shown, endpoint, authorization);
      },
    },
    {
      label: 'Share a link',
      path: 'M10 14a4 4 0 0 0 6 0l4-4a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-4 4a4 4 0 0 0 6 6l1-1',
      open: async (/** @type {ShownOperation} */ shown) => (await dialogs()).showLink(shown),
    },
  ],
  fetcher: createFetcher({ post, confirmedFields, signIn, answers, EventStreamReader }),
  defaultTabs,
  groupOf,
  // Null asks for none.
  ...(!config.introspection && { schema: null }),
  // Or the first tab would show what was edited last.
  query: defaultTabs[0]?.query,
  variables: defaultTabs[0]?.variables ?? '',
  // Of a new tab; GraphiQL's own is a page of explanations.
  defaultQuery: '',
  // A phone has no room for a third pane until it is asked for.
  defaultEditorToolsVisibility: matchMedia('(min-width: 43.75em)').matches ? 'variables' : false,
  shouldPersistHeaders: false,
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

/** Else a browser that allows no storage would show that the editor is on its way, for ever. */
function tabsOrReason() {
  try {
    return openingTabs(EXAMPLES.filter(({ isForSandbox }) => users || !isForSandbox));
  } catch (error) {
    elementOf('loading-state', HTMLElement).textContent = `The editor cannot start: ${error}`;
    elementOf('loading', HTMLProgressElement).hidden = true;
    throw error;
  }
}
