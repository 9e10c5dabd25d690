/**
 * The endpoint's address, in the form for requests and sockets. Throws if the app gives no address, for example because a
 * setting is missing.
 */
export function endpointOf(given: unknown): string {
  const text = String(given ?? '').trim();
  const page = globalThis.location?.href;
  const isWhole = text === '' || page === undefined || /^\w+:/.test(text);
  const url = (isWhole ? text : new URL(text, page).href).replace(/^ws/i, 'http');
  // Accepts an address of HTTP, or a path: a server that renders has no page to resolve the path against.
  if (/^(?:https?:\/)?\/[^/]/i.test(url)) return url.replace(/#.*/, '');
  throw new TypeError(`\`url\` is the address of the GraphQL endpoint, not ${given}`);
}
