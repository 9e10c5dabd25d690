// The page's entry: GraphiQL between a bar with the account and a line about the last answer.
import { renderGraphiQL } from '../src/graphiql.js';
import { Account } from './account.js';
import { AnswerLine } from './answer-line.js';
import { elementOf } from './elements.js';
import { CONFIRMED_FIELDS, EXAMPLES } from './examples.js';
import { createFetcher } from './fetcher.js';
import { withOrderKeys } from './order-keys.js';
import { SandboxUsers } from './sandbox-users.js';
import { openingTabs } from './tabs.js';

/** @type {import('./types.d.ts').PageConfig} */
const config = JSON.parse(elementOf('config', HTMLElement).textContent ?? '');
const { credentials, users } = config;
const endpoint = new URL(config.endpoint, location.href).href;
/** @type {import('./types.d.ts').Post} */
const post = (headers, body) => fetch(endpoint, { method: 'POST', credentials, headers, body });

// The query of a link is opened, but it is not run.
const isLinked = /[#&?]query=/.test(location.href);
const examples = EXAMPLES.filter(({ isForSandbox }) => users || !isForSandbox);
const answers = new AnswerLine();
withOrderKeys(post, examples).then(open, reportError);

/** @param {typeof EXAMPLES} given */
function open(given) {
  const { tabs, isFirstVisit } = openingTabs(given);
  renderGraphiQL(elementOf('root', HTMLElement), {
    fetcher: createFetcher({
      endpoint,
      credentials,
      // The sandbox has no real money.
      confirmedFields: users ? [] : CONFIRMED_FIELDS,
      signIn: users ? new SandboxUsers(post, users, config.token) : new Account(post),
      answers,
    }),
    defaultTabs: tabs,
    // Without these two the first tab would show the operation that was edited last.
    query: tabs[0]?.query,
    variables: tabs[0]?.variables ?? '',
    // A new tab is empty. By default GraphiQL fills it with explanations.
    defaultQuery: '',
    // A phone has no room for a third pane.
    defaultEditorToolsVisibility: matchMedia('(min-width: 43.75em)').matches ? 'variables' : false,
    shouldPersistHeaders: false,
    runsAtOpening: users !== null && isFirstVisit && !isLinked,
    onNotSent: () => answers.notSent(),
  });
}

// A link to an operation changes only the fragment if it is opened on this page, so the page has to load again.
addEventListener('hashchange', () => location.reload());
for (const menu of document.querySelectorAll('details.menu')) {
  addEventListener('pointerdown', ({ target }) => {
    if (target instanceof Node && !menu.contains(target)) menu.removeAttribute('open');
  });
}
