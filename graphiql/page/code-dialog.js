import { element } from './elements.js';
import { linkTo } from './share.js';
import { snippetsOf } from './snippets.js';

/**
 * @typedef {import('./types.d.ts').ShownOperation} ShownOperation
 * @typedef {{ title: string, code: string }} Sheet
 */

const COPIED_MS = 1_500;

/**
 * Shows the operation as code, for each client.
 *
 * @param {ShownOperation} shown
 * @param {string} endpoint
 */
export function showCode({ variables, chosen }, endpoint) {
  const title = 'This operation as code';
  if (chosen === null) return show(title, 'The operation has a syntax error.', []);
  try {
    /** @type {unknown} */
    const values = variables.trim() ? JSON.parse(variables) : undefined;
    const given = Object(values) === values ? Object(values) : undefined;
    const sheets = snippetsOf({ ...chosen, variables: given }, endpoint);
    show(title, 'Put a token in the place of $TOKEN.', sheets);
  } catch {
    show(title, 'The variables are not JSON.', []);
  }
}

/** @param {ShownOperation} shown */
export function showLink({ query }) {
  const link = linkTo(query, `${location.origin}${location.pathname}`);
  show(
    'A link to this operation',
    'It opens the operation in a tab and runs nothing. Variables, texts and comments are left out.',
    [{ title: 'Link', code: link }],
  );
}

/**
 * @param {string} title
 * @param {string} note
 * @param {readonly Sheet[]} sheets
 */
function show(title, note, sheets) {
  const heading = element('h2', '', title);
  heading.id = 'code-title';
  const close = element('button', '', 'Close');
  const dialog = element('dialog', 'code', heading, element('p', 'quiet', note));
  dialog.setAttribute('aria-labelledby', heading.id);
  if (sheets.length > 0) dialog.append(...contents(sheets));
  else dialog.append(element('div', 'buttons', close));
  dialog.querySelector('.buttons')?.append(close);
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** @param {readonly Sheet[]} sheets */
function contents(sheets) {
  const code = element('code');
  // It scrolls, so the keyboard has to reach it.
  const panel = element('pre', '', code);
  panel.tabIndex = 0;
  const copy = element('button', '', 'Copy');
  const status = element('p', 'unseen');
  status.setAttribute('role', 'status');
  const tabs = sheets.map(({ title }) => element('button', '', title));
  const select = (/** @type {number} */ chosen) => {
    code.textContent = sheets[chosen]?.code ?? '';
    panel.setAttribute('aria-label', sheets[chosen]?.title ?? '');
    for (const [at, tab] of tabs.entries()) {
      tab.setAttribute('aria-selected', String(at === chosen));
      tab.tabIndex = at === chosen ? 0 : -1;
    }
  };
  const list = element('div', 'code-tabs', ...tabs);
  list.setAttribute('role', 'tablist');
  list.setAttribute('aria-label', 'Client');
  list.addEventListener('keydown', (event) => {
    const at = tabs.findIndex(({ tabIndex }) => tabIndex === 0);
    /** @type {Record<string, number>} */
    const moves = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 };
    const to = moves[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = (to + tabs.length) % tabs.length;
    select(next);
    tabs[next]?.focus();
  });
  for (const [at, tab] of tabs.entries()) {
    tab.setAttribute('role', 'tab');
    tab.addEventListener('click', () => select(at));
  }
  panel.setAttribute('role', sheets.length > 1 ? 'tabpanel' : 'region');
  copy.addEventListener('click', async () => {
    const isCopied = await copyText(code.textContent ?? '');
    copy.textContent = isCopied ? 'Copied' : 'Not allowed';
    status.textContent = isCopied ? 'Copied.' : 'The browser does not allow copying.';
    setTimeout(() => {
      copy.textContent = 'Copy';
    }, COPIED_MS);
  });
  select(0);
  const parts = [panel, element('div', 'buttons', copy), status];
  return sheets.length > 1 ? [list, ...parts] : parts;
}

/** @param {string} text */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
