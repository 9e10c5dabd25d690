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
 * @param {string | null} authorization
 */
export function showCode({ variables, chosen }, endpoint, authorization) {
  const title = 'This operation as code';
  if (chosen === null) return show(title, 'The operation has a syntax error.', []);
  try {
    /** @type {unknown} */
    const values = variables.trim() ? JSON.parse(variables) : undefined;
    const given = Object(values) === values ? Object(values) : undefined;
    const sheets = snippetsOf({ ...chosen, variables: given }, endpoint);
    const token = authorization?.replace(/^Bearer /, '');
    show(title, 'Put a token in the place of $TOKEN.', sheets, token);
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
 * @param {string} [token]
 */
function show(title, note, sheets, token) {
  const heading = element('h2', '', title);
  heading.id = 'code-title';
  const close = element('button', '', 'Close');
  const dialog = element('dialog', 'code', heading, element('p', 'quiet', note));
  dialog.setAttribute('aria-labelledby', heading.id);
  if (sheets.length > 0) dialog.append(...contents(sheets, token));
  else dialog.append(element('div', 'buttons', close));
  dialog.querySelector('.buttons')?.append(close);
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/**
 * @param {readonly Sheet[]} sheets
 * @param {string} [token]
 */
function contents(sheets, token) {
  const code = element('code');
  // It scrolls, so the keyboard has to reach it.
  const panel = element('pre', '', code);
  panel.tabIndex = 0;
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
  const copying = (/** @type {string} */ label, /** @type {() => string} */ text) => {
    const copy = element('button', '', label);
    copy.addEventListener('click', async () => {
      const isCopied = await copyText(text());
      copy.textContent = isCopied ? 'Copied' : 'Not allowed';
      status.textContent = isCopied ? 'Copied.' : 'The browser does not allow copying.';
      setTimeout(() => copy.replaceChildren(label), COPIED_MS);
    });
    return copy;
  };
  const buttons = element(
    'div',
    'buttons',
    copying('Copy', () => code.textContent ?? ''),
  );
  if (token) buttons.append(copying('Copy token', () => token));
  select(0);
  const parts = [panel, buttons, status];
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
