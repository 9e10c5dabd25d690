/**
 * Four hex digits of a SHA-256 of the login, by which load balancers find the account's instance. Null without Web Crypto, as on
 * pages of an insecure origin.
 */
export async function routeHint(login: string): Promise<string | null> {
  const subtle: SubtleCrypto | undefined = globalThis.crypto?.subtle;
  const digest = await subtle?.digest('SHA-256', new TextEncoder().encode(login));
  return digest ? new DataView(digest).getUint16(0).toString(16).padStart(4, '0') : null;
}

/** The endpoint's address as requests and sockets take it. Throws where the app gives none, as where its setting is missing. */
export function endpointOf(given: unknown): string {
  const text = String(given ?? '').trim();
  const page = globalThis.location?.href;
  const isWhole = text === '' || page === undefined || /^\w+:/.test(text);
  const url = (isWhole ? text : new URL(text, page).href).replace(/^ws/i, 'http');
  // A server that renders knows no page that a path could be of.
  if (/^(?:https?:\/)?\/[^/]/i.test(url)) return url.replace(/#.*/, '');
  throw new TypeError(
    `\`url\` is the address of the GraphQL endpoint, such as https://example.com/graphql, not ${given}`,
  );
}

/** The URL with the hint, where it is known. */
export function routedUrl(url: string, hint: string | null): string {
  if (hint === null) return url;
  return `${url}${url.includes('?') ? '&' : '?'}route=${hint}`;
}
