/**
 * Four hex digits of a SHA-256 of the login, by which load balancers find the account's instance. Null where the
 * platform has no digest, as pages of an insecure origin and React Native.
 */
export async function routeHint(login: string): Promise<string | null> {
  try {
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(login));
    const first = Array.from(new Uint8Array(digest).subarray(0, 2));
    return first.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  } catch {
    return null;
  }
}

/** The URL with the hint, where it is known. */
export function routedUrl(url: string, hint: string | null): string {
  if (hint === null) return url;
  return `${url}${url.includes('?') ? '&' : '?'}route=${hint}`;
}
