/**
 * Four hex digits of a SHA-256 of the login, by which load balancers find the account's instance. Without Web Crypto,
 * which React Native and pages of an insecure origin lack. Null for a login of more than one block.
 */
export function routeHint(login: string): string | null {
  if (!/^[!-~]{1,55}$/.test(login)) return null;
  const bytes = new DataView(new ArrayBuffer(64));
  // A single bit follows the text, and at the end stands its length in bits.
  for (const [at, letter] of [...login, '\x80'].entries()) bytes.setUint8(at, letter.charCodeAt(0));
  bytes.setInt32(60, 8 * login.length);
  const primes: number[] = [];
  for (let candidate = 2; primes.length < 64; candidate += 1) {
    if (primes.every((prime) => candidate % prime > 0)) primes.push(candidate);
  }
  const start = primes.slice(0, 8).map((prime) => fraction(prime ** 0.5));
  const words: number[] = [];
  let state = start;
  for (const [at, prime] of primes.entries()) {
    const [before = 0, late = 0, seventh = 0, oldest = 0] = [15, 2, 7, 16].map(
      (to) => words[at - to],
    );
    const small = turned(before, 7) ^ turned(before, 18) ^ (before >>> 3);
    const large = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
    const word = at < 16 ? bytes.getInt32(4 * at) : (oldest + small + seventh + large) | 0;
    words.push(word);
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
    const sum = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const one = h + sum + ((e & f) ^ (~e & g)) + fraction(Math.cbrt(prime)) + word;
    const two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    state = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g];
  }
  const [first = 0] = start.map((own, at) => own + (state[at] ?? 0));
  return ((first >>> 16) & 0xffff).toString(16).padStart(4, '0');
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

function turned(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

/** The first 32 bits of a number's fraction, which SHA-256 takes of the roots of primes. */
function fraction(value: number): number {
  return ((value % 1) * 2 ** 32) | 0;
}
