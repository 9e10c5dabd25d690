import { pick, type Random } from '../../../src/sandbox/random.ts';

const PIECES = [
  ...['', ' ', '\n', '\r\n', '\r\n\r\n', '\u0000', ...'"\\{}[]():,'],
  ...['$', '@', '!', '...', '#', '|', '&', '%', '-1', '1e999', '0.1234567890123456789', 'null'],
  ...['__proto__', 'constructor', '\ufeff', '\ud800', '\u2028', '😀', '"""', '\\u{110000}'],
  ...['[', '{"a":', '{ a '].map((opening) => opening.repeat(20_000)),
];
const VALUES: readonly unknown[] = [
  ...[null, true, 0, -1, 0.1, 1e308, 1e21, 5e-324, 2 ** 53, '', 'x', '\u0000', '\ud800', 'NaN'],
  ...['__proto__', '2026-13-45', 'x'.repeat(70_000), [], {}, [[]], [null], { toString: 1 }],
];

/** Repeats, moves, drops, replaces or inserts some bytes. */
export function corruptBytes(random: Random, bytes: Buffer): Buffer {
  const start = Math.floor(random() * (bytes.length + 1));
  const end = Math.min(bytes.length, start + Math.floor(random() ** 3 * 40));
  const cut = bytes.subarray(start, end);
  const noise = Buffer.from(cut.map(() => random() * 256));
  const piece = Buffer.from(pick(random, PIECES));
  const twice = Buffer.concat([cut, cut]);
  const replacement = pick(random, [piece, piece, noise, Buffer.alloc(0), twice]);
  const corrupt = Buffer.concat([bytes.subarray(0, start), replacement, bytes.subarray(end)]);
  if (random() < 0.1) return corrupt.subarray(0, start);
  return random() < 0.3 ? corruptBytes(random, corrupt) : corrupt;
}

/** Replaces, drops or inserts some tokens of a text, so that the result is almost valid. */
export function corruptTokens(random: Random, text: string): string {
  const tokens = text.match(/\w+|\s+|[^\w\s]/g) ?? [''];
  const start = Math.floor(random() * tokens.length);
  const replacement = pick(random, [pick(random, PIECES), pick(random, tokens), '']);
  tokens.splice(start, Math.floor(random() * 3), replacement);
  return random() < 0.4 ? corruptTokens(random, tokens.join('')) : tokens.join('');
}

/** Replaces, drops, repeats or renames a value at any depth. */
export function corruptJson(random: Random, value: unknown): unknown {
  const root = { value: structuredClone(value) };
  const [holder, name] = placeIn(random, root, 'value');
  const [other, otherName] = placeIn(random, root, 'value');
  const kind = random();
  if (kind < 0.5) holder[name] = pick(random, VALUES);
  else if (kind < 0.6) delete holder[name];
  else if (kind < 0.75) holder[name] = structuredClone(other[otherName]);
  else if (kind < 0.85) holder[name] = Array(pick(random, [1, 2, 100])).fill(holder[name]);
  else holder[pick(random, ['__proto__', 'toJSON', 'id', 'x'])] = holder[name];
  // Lists of lists would grow beyond the fuzzer's own limits, so a value that became a list is not corrupted further.
  const becameList = kind >= 0.75 && kind < 0.85;
  return random() < 0.4 && !becameList ? corruptJson(random, root.value) : root.value;
}

/** Chooses a place in the value, rather near the root than deep, because more depends on values near the root. */
function placeIn(random: Random, holder: object, name: string): [Record<string, unknown>, string] {
  const named = holder as Record<string, unknown>;
  const inner = named[name];
  const names = typeof inner === 'object' && inner !== null ? Object.keys(inner) : [];
  if (names.length === 0 || random() < 0.25) return [named, name];
  return placeIn(random, inner as object, pick(random, names));
}
