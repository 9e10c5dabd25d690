/** The hint of `route.ts` without Web Crypto, which React Native lacks. Null for a login of more than one block. */
export function hermesRouteHint(login: string): string | null {
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

function turned(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

/** The first 32 bits of a number's fraction, which SHA-256 takes of the roots of primes. */
function fraction(value: number): number {
  return ((value % 1) * 2 ** 32) | 0;
}
