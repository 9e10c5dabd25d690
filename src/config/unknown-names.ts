import type { Variables } from './given-value.ts';

// "HOME" is near "HOST", and "POST" near "PORT": short names are not compared.
const MIN_LETTERS = 5;
const LETTERS_PER_TYPO = 5;
const MIN_STEM_LETTERS = 7;

/** Warns of each variable that is probably a misspelt setting, without its value. OTEL_… belong to OpenTelemetry. */
export function warnOfUnknownNames(environment: Variables, known: readonly string[]): string[] {
  return Object.entries(environment).flatMap(([name, value]) => {
    if (!value || known.includes(name) || name.startsWith('OTEL_')) return [];
    const meant = nearestName(name.toUpperCase(), known);
    return meant === undefined ? [] : [`${name} is not a setting: is ${meant} meant?`];
  });
}

function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length < MIN_LETTERS) return undefined;
  const most = Math.floor(name.length / LETTERS_PER_TYPO);
  return known
    .map((one) => ({ one, edits: levenshteinDistance(name, one) }))
    .filter(({ one, edits }) => edits <= most || hasOtherEnd(name, one))
    .toSorted((a, b) => a.edits - b.edits)[0]?.one;
}

/** The last word is missing, added or different: CATALOG_MAX_AGE, GRAPHIQL_ENABLED, GATEWAY_TIMEOUT_SECONDS. */
function hasOtherEnd(name: string, candidate: string): boolean {
  const [stem, other] = [withoutLastWord(name), withoutLastWord(candidate)];
  if (stem === candidate) return candidate.length >= MIN_STEM_LETTERS;
  return other.includes('_') && (name === other || stem === other);
}

function withoutLastWord(name: string): string {
  return name.replace(/_[^_]*$/, '');
}

function levenshteinDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
