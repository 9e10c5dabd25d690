// A text that is not closed ends with its line, a block with the document.
const TEXTS_AND_COMMENTS = /"""(?:\\"""|[\s\S])*?(?:"""|$)|"(?:\\[^\n\r]|[^"\\\n\r])*"?|#[^\n\r]*/g;

/**
 * The address that opens the operation in a tab, and runs nothing. What may be private stays behind: variables, texts within
 * the document, and comments. It is in the fragment, which browsers send to no server.
 *
 * @param {string} query
 * @param {string} page The address of this page.
 */
export function linkTo(query, page) {
  const bare = query.replaceAll(TEXTS_AND_COMMENTS, (found) => (found.startsWith('#') ? '' : '""'));
  const lines = bare.split(/\r\n|\n|\r/).filter((line) => line.trim() !== '');
  return `${page}#${new URLSearchParams({ query: lines.join('\n') })}`;
}
