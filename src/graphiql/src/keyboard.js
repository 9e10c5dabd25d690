/** Names an editor for screen readers, and lets the Tab key move to the next element. Ctrl+] indents. */
export function letTabLeave(editor, name) {
  if (!editor) return;
  editor.setOption('screenReaderLabel', name);
  editor.setOption('tabindex', -1);
  editor.setOption('extraKeys', {
    ...editor.getOption('extraKeys'),
    Tab: false,
    'Shift-Tab': false,
  });
  // The scroller is a tab stop, for users who scroll by keys, and passes the focus to the hidden field. While the field has
  // the focus, the scroller is no tab stop: it comes after the field, so Tab would lead back to the field.
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
