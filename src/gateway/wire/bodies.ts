import { redact } from '../../lib/redact.ts';
import * as f from '../fields.ts';
import { flag, isRow, readingIn, text } from './scalars.ts';

export type GatewayRefusal = Readonly<ReturnType<typeof toRefusal>>;

/** A refusal's body, whichever of the interface's five shapes it came in; what it lacks is null. */
export function toRefusal(body: unknown) {
  const row = isRow(body) ? body : {};
  return {
    error: text(row.error),
    message: text(row.message),
    email: text(row.email),
    ok: flag(row.ok),
    details: isRow(row.details) && isShallow(row.details, DEEPEST_DETAILS) ? row.details : null,
  };
}

const MAX_WORDS_LENGTH = 2_000;

/** The text of a refusal, with personal data redacted; null where it has none. */
export function refusalWords({ error, message }: GatewayRefusal) {
  if (error === null && message === null) return null;
  const redacted = (words: string | null) =>
    // More is redacted than is shown, because the half of an e-mail address is not recognised.
    words === null ? null : redact(words.slice(0, 2 * MAX_WORDS_LENGTH)).slice(0, MAX_WORDS_LENGTH);
  return { error: redacted(error), message: redacted(message) };
}

// They go into an answer as they are, and JSON.stringify recurses: a deep one would cost the whole answer.
const DEEPEST_DETAILS = 32;

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1));
}

/** The answer of a sign-in. */
export const LOGIN = f.table('Login', {
  accessToken: f.from('access_token', f.vital(f.filled)),
  refreshToken: f.from('refresh_token', f.text),
  passkey: f.flag,
});

export type LoginGrant = f.ValueOf<typeof LOGIN.fields>;

export function toLoginGrant(body: unknown): LoginGrant | null {
  return LOGIN.read(body, readingIn('auto'));
}
