import { isTypoOf } from '../lib/typo.ts';
import type { Variables } from './given-value.ts';

// "HOME" is near "HOST", and "POST" near "PORT": short names are not compared.
const MIN_LETTERS = 5;
const MIN_STEM_LETTERS = 7; // HOST_NAME or PORT_RANGE of another program is not a misspelt HOST or PORT.

/** Warns of each variable that is probably a misspelt setting, without its value. OTEL_… belong to OpenTelemetry. */
export function warnOfUnknownNames(environment: Variables, known: readonly string[]): string[] {
  return Object.entries(environment).flatMap(([name, value]) => {
    if (!value || known.includes(name) || name.startsWith('OTEL_')) return [];
    const meant = meantName(name.toUpperCase(), known);
    return meant === undefined ? [] : [`${name} is not a setting: is ${meant} meant?`];
  });
}

function meantName(name: string, known: readonly string[]): string | undefined {
  if (name.length < MIN_LETTERS) return undefined;
  const typo = known.find((one) => isTypoOf(one, name));
  return typo ?? known.find((one) => hasOtherEnd(name, one));
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
