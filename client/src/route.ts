/**
 * Four hex digits of a SHA-256 of the login, by which load balancers find the account's instance. Without Web Crypto,
 * which React Native and pages of an insecure origin lack. Null for a login of more than one block.
 */
export function routeHint(login: string): string | null {
  if (!/^[!-~]{1,55}$/.test(login)) return null;
  const words = Array.from({ length: 16 }, (_, at) => wordAt(login, at));
  words[15] = 8 * login.length;
  for (let at = 16; at < 64; at += 1) {
    const [a, b] = [numberAt(words, at - 15), numberAt(words, at - 2)];
    const small = turned(a, 7) ^ turned(a, 18) ^ (a >>> 3);
    const large = turned(b, 17) ^ turned(b, 19) ^ (b >>> 10);
    words.push((numberAt(words, at - 16) + small + numberAt(words, at - 7) + large) | 0);
  }
  const primes = firstPrimes(64);
  const start = primes.slice(0, 8).map((prime) => fraction(prime ** 0.5));
  let state = start;
  for (const [at, word] of words.entries()) {
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
    const sum = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const one = h + sum + ((e & f) ^ (~e & g)) + fraction(Math.cbrt(numberAt(primes, at))) + word;
    const two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    state = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g];
  }
  const first = (numberAt(start, 0) + numberAt(state, 0)) >>> 16;
  return (first & 0xffff).toString(16).padStart(4, '0');
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

/** Four bytes of the text, which a single bit follows. */
function wordAt(text: string, at: number): number {
  let word = 0;
  for (let byte = 4 * at; byte < 4 * at + 4; byte += 1) {
    const code = byte === text.length ? 0x80 : byte < text.length ? text.charCodeAt(byte) : 0;
    word = (word << 8) | code;
  }
  return word;
}

function turned(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

/** The first 32 bits of a number's fraction, which SHA-256 takes of the roots of primes. */
function fraction(value: number): number {
  return ((value - Math.floor(value)) * 2 ** 32) | 0;
}

function numberAt(list: readonly number[], at: number): number {
  return list[at] ?? 0;
}

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < count; candidate += 1) {
    if (primes.every((prime) => candidate % prime > 0)) primes.push(candidate);
  }
  return primes;
}
