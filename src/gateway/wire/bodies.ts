import { LongInteger } from '../../../lib/exact-json.ts';
import { redact } from '../../../lib/redact.ts';
import { digits, flag, isRow, text } from './scalars.ts';

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

export type LoginGrant = Readonly<NonNullable<ReturnType<typeof toLoginGrant>>>;

export function toLoginGrant(body: unknown) {
  if (!isRow(body)) return null;
  const accessToken = text(body.access_token);
  if (!accessToken) return null;
  return {
    accessToken,
    refreshToken: text(body.refresh_token),
    passkey: flag(body.passkey),
  };
}

/** The answer to ops 4 and 5: nothing in it is guaranteed, `{}` is one of the documented bodies. */
export function toSubmitResult(body: unknown) {
  const row = isRow(body) ? body : {};
  return {
    success: flag(row.success),
    namesOrder: namesOrder(row.orderId),
    /** Null where it names no order, and where its number cannot be shown. */
    orderId: namesOrder(row.orderId) ? (text(row.orderId) ?? digits(row.orderId)) : null,
    error: text(row.err),
    message: text(row.message),
  };
}

/** True also where the number is one that cannot be shown. Empty, zero, `-` and `null` are none, nor is a UUID of zeros. */
function namesOrder(orderId: unknown): boolean {
  if (orderId instanceof LongInteger) return true;
  if (typeof orderId === 'number') return orderId !== 0;
  if (typeof orderId !== 'string') return false;
  return Number(orderId) !== 0 && !/^\s*(?:[0-]*|null)\s*$/i.test(orderId);
}
