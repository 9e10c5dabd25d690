import { createSearch, excerptOf } from './search.js';

const MAX_RESULTS = 8;

addCopyButtons();
const form = document.querySelector('form[role="search"]');
if (form instanceof HTMLFormElement) searchAsOneTypes(form);

/** Every block of code can be copied; the button is read after the code. */
function addCopyButtons() {
  for (const pre of document.querySelectorAll('pre')) {
    const button = document.createElement('button');
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      const text = pre.textContent ?? '';
      // A browser has no clipboard to write to without HTTPS.
      const copied = navigator.clipboard?.writeText(text) ?? Promise.reject();
      const isCopied = await copied.then(
        () => true,
        () => false,
      );
      button.textContent = isCopied ? 'Copied' : 'Press Ctrl+C';
      if (!isCopied) getSelection()?.selectAllChildren(pre);
    });
    const block = document.createElement('div');
    block.className = 'code';
    pre.replaceWith(block);
    block.append(pre, button);
  }
}

/**
 * Shows pages below the field while one types: a combobox by the pattern of WAI-ARIA. The index is loaded when the field
 * is first used. Enter without a choice asks the server for all results; in a folder without one it opens the first.
 *
 * @param {HTMLFormElement} form
 */
function searchAsOneTypes(form) {
  const field = form.querySelector('input');
  if (field === null) return;
  const list = document.createElement('div');
  list.id = 'results';
  list.className = 'results';
  list.role = 'listbox';
  list.ariaLabel = 'Pages';
  list.hidden = true;
  const status = document.createElement('p');
  status.className = 'status';
  status.role = 'status';
  form.append(list, status);
  field.role = 'combobox';
  field.setAttribute('aria-controls', list.id);
  field.setAttribute('aria-autocomplete', 'list');
  field.ariaExpanded = 'false';

  /** @type {Promise<((query: string) => readonly import('./search.js').Found[]) | null> | undefined} */
  let loading;
  let chosen = -1;

  const options = () =>
    /** @type {NodeListOf<HTMLElement>} */ (list.querySelectorAll('[role="option"]'));

  function choose(/** @type {number} */ next) {
    const all = options();
    chosen = all.length === 0 ? -1 : (next + all.length) % all.length;
    all.forEach((option, at) => {
      option.ariaSelected = String(at === chosen);
    });
    const option = all[chosen];
    if (option) field?.setAttribute('aria-activedescendant', option.id);
    else field?.removeAttribute('aria-activedescendant');
    option?.scrollIntoView({ block: 'nearest' });
  }

  function turn(/** @type {boolean} */ isOpen) {
    list.hidden = !isOpen;
    if (field) field.ariaExpanded = String(isOpen);
    chosen = -1;
    field?.removeAttribute('aria-activedescendant');
  }

  function loaded() {
    loading ??= load().catch(() => {
      // A connection that was lost may be back at the next letter.
      loading = undefined;
      return null;
    });
    return loading;
  }

  async function show() {
    const query = field?.value.trim() ?? '';
    const search = await loaded();
    // The field may say something else by now.
    if (search === null || field?.value.trim() !== query) return;
    const found = query === '' ? [] : search(query).slice(0, MAX_RESULTS);
    list.replaceChildren(...found.map(optionOf));
    turn(found.length > 0);
    status.textContent =
      query === '' ? '' : found.length === 0 ? 'No page has these words.' : `${found.length} pages`;
  }

  form.addEventListener('submit', async (event) => {
    if (form.hasAttribute('action')) return;
    event.preventDefault();
    await show();
    options()[0]?.click();
  });
  field.addEventListener('input', show);
  field.addEventListener('focus', loaded);
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') return turn(false);
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      if (list.hidden) void show();
      else choose(event.key === 'ArrowDown' ? chosen + 1 : Math.max(chosen, 0) - 1);
    }
    if (event.key !== 'Enter') return;
    const option = options()[chosen];
    if (option === undefined || list.hidden) return;
    event.preventDefault();
    option.click();
  });
  form.addEventListener('focusout', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && form.contains(relatedTarget))) turn(false);
  });
  list.addEventListener('click', () => turn(false));
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea');
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
}

async function load() {
  const [{ default: MiniSearch }, sections] = await Promise.all([
    import('./minisearch.js'),
    fetch(new URL('sections.json', import.meta.url)).then((response) => response.json()),
  ]);
  return createSearch(MiniSearch, sections);
}

/**
 * @param {import('./search.js').Found} found
 * @param {number} at
 */
function optionOf({ section, terms }, at) {
  const { path, id, page, title } = section;
  const option = document.createElement('a');
  option.role = 'option';
  option.ariaSelected = 'false';
  option.id = `result-${at}`;
  // Beside this script, whatever the path prefix is.
  option.href = new URL(`../..${path}#${id}`, import.meta.url).href;
  option.tabIndex = -1;
  const place = document.createElement('span');
  place.textContent = title === page ? '' : title;
  const excerpt = document.createElement('small');
  for (const { text, isFound } of excerptOf({ section, terms })) {
    const piece = document.createElement(isFound ? 'mark' : 'span');
    piece.textContent = text;
    excerpt.append(piece);
  }
  option.append(page, ' ', place, excerpt);
  return option;
}
