import type { Variables } from './given-value.ts';

// OpenTelemetry defines many variables, which other parts of the program read.
const OF_OTHERS = /^OTEL_/;
// "HOME" is near "HOST", and "POST" near "PORT", so short names are not compared.
const MIN_LETTERS = 5;
const LETTERS_PER_TYPO = 5;
const MIN_STEM_LETTERS = 7;

/** Warns of each variable that is probably a misspelt setting, without showing its value. */
export function warnOfUnknownNames(
  environment: Variables,
  known: ReadonlySet<string>,
): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) => {
    if (!value || known.has(name) || OF_OTHERS.test(name)) return [];
    const nearest = nearestName(name.toUpperCase(), known);
    return nearest === null ? [] : [`${name} is not a setting: is ${nearest} meant?`];
  });
}

function nearestName(name: string, known: ReadonlySet<string>): string | null {
  const near = [...known].filter((one) => isTypo(name, one) || sharesStem(name, one));
  // A name that lacks only a candidate's last word counts as a single edit.
  const distanceTo = (one: string) => (name === stemOf(one) ? 1 : editDistance(name, one));
  return near.toSorted((a, b) => distanceTo(a) - distanceTo(b))[0] ?? null;
}

function isTypo(name: string, candidate: string): boolean {
  const most = Math.floor(name.length / LETTERS_PER_TYPO);
  return name.length >= MIN_LETTERS && editDistance(name, candidate) <= most;
}

/** The last word is missing, added or different: CATALOG_MAX_AGE, GRAPHIQL_ENABLED, GATEWAY_TIMEOUT_SECONDS. */
function sharesStem(name: string, candidate: string): boolean {
  const [stem, other] = [stemOf(name), stemOf(candidate)];
  if (stem === candidate) return candidate.length >= MIN_STEM_LETTERS;
  return (name === other || stem === other) && other.includes('_');
}

function stemOf(name: string): string {
  return name.replace(/_[^_]*$/, '');
}

export function editDistance(one: string, other: string): number {
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
