/**
 * Reads an address that paths are appended to, without a slash at its end; null where it is none, or where the parser has to
 * repair it. Headers are set apart, so it may have no other parts.
 */
export function readBaseUrl(text: string): string | null {
  const url = URL.parse(text);
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  const isBare = url?.username === '' && url.password === '' && !/[?#\s\\]/.test(text);
  return isWeb && isBare ? url.href.replace(/\/+$/, '') : null;
}

export const BASE_URL = 'an http or https address, without user, password, query or fragment';
