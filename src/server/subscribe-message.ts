const NAMES_A_DOCUMENT = /"(?:documentId|persistedQuery)"/;

/** The protocol's library takes no operation without a text, although an id stands for one. */
export function withText(message: string): string {
  if (!NAMES_A_DOCUMENT.test(message)) return message;
  try {
    const parsed = JSON.parse(message);
    const payload = parsed?.payload;
    if (typeof payload !== 'object' || payload === null || payload.query != null) return message;
    payload.query = '';
    return JSON.stringify(parsed);
  } catch {
    // Whatever is wrong with it, the library says so.
    return message;
  }
}
