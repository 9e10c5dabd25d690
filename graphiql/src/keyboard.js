import { useEditorContext } from '@graphiql/react';
import { useEffect } from 'react';

/** Names for the editors, and a way through the page by Tab: the sidebar is one stop, and no editor keeps the focus. */
export function Keyboard() {
  const { queryEditor, variableEditor, headerEditor, responseEditor } = useEditorContext({
    nonNull: true,
  });
  useEffect(() => letThrough(queryEditor, 'Operation'), [queryEditor]);
  useEffect(() => letThrough(variableEditor, 'Variables'), [variableEditor]);
  useEffect(() => letThrough(headerEditor, 'Headers'), [headerEditor]);
  useEffect(() => letThrough(responseEditor, 'Result'), [responseEditor]);
  useEffect(() => {
    // A subscription's list would be read out at each event; the page's own line tells of answers.
    document.querySelector('.result-window')?.setAttribute('aria-live', 'off');
    const sidebar = document.querySelector('.graphiql-sidebar');
    makeOneStop(sidebar);
    returnFocus(sidebar);
  }, []);
  return null;
}

/** An indent is Ctrl+] here: Tab goes on to what follows. */
function letThrough(editor, name) {
  if (!editor) return;
  editor.setOption('screenReaderLabel', name);
  editor.setOption('tabindex', -1);
  const keys = editor.getOption('extraKeys');
  editor.setOption('extraKeys', { ...keys, Tab: false, 'Shift-Tab': false });
  // The scroller is a tab stop, as it has to be for users who scroll by keys, and hands the focus to the hidden field. It is
  // none while the field has the focus: it stands behind it, so Tab would come back.
  const scroller = editor.getScrollerElement();
  scroller.setAttribute('role', 'group');
  scroller.setAttribute('aria-label', name);
  scroller.tabIndex = 0;
  scroller.addEventListener('focus', () => editor.focus());
  editor.on('focus', () => {
    scroller.tabIndex = -1;
  });
  editor.on('blur', () => {
    scroller.tabIndex = 0;
  });
}

/** A dialog that closes gives the focus back to the button that opened it: GraphiQL's own lose it. */
function returnFocus(toolbar) {
  let opener = null;
  toolbar.addEventListener('click', ({ target }) => {
    opener = target.closest('[data-value]');
  });
  new MutationObserver((changes) => {
    const isClosed = changes.some(({ removedNodes }) =>
      [...removedNodes].some((node) => node.matches?.('.graphiql-dialog')),
    );
    if (isClosed) setTimeout(() => opener?.focus());
  }).observe(document.body, { childList: true });
}

/** Arrows move within a toolbar, and Tab leaves it. */
function makeOneStop(toolbar) {
  toolbar.setAttribute('role', 'toolbar');
  toolbar.setAttribute('aria-label', 'Panels and settings');
  toolbar.setAttribute('aria-orientation', 'vertical');
  const buttons = () => [...toolbar.querySelectorAll('button:enabled')];
  const stopAt = (chosen) => {
    for (const button of toolbar.querySelectorAll('button')) button.tabIndex = -1;
    chosen.tabIndex = 0;
  };
  stopAt(buttons()[0]);
  toolbar.addEventListener('focusin', ({ target }) => stopAt(target));
  toolbar.addEventListener('keydown', (event) => {
    const all = buttons();
    const at = all.indexOf(event.target);
    const next = {
      ArrowDown: at + 1,
      ArrowRight: at + 1,
      ArrowUp: at - 1,
      ArrowLeft: at - 1,
      Home: 0,
      End: -1,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    all.at(next % all.length).focus();
  });
}
