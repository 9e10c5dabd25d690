import { isObject } from '../lib/is-object.ts';
import { redact } from '../lib/redact.ts';
import { jsonOf } from './answer-body.ts';
import type { Answer } from './exchange.ts';
import { text } from './scalars.ts';

export type GatewayRefusal = Readonly<ReturnType<typeof toRefusal>>;

/** The body of a refusal in any of the gateway's five shapes (`errors` in operation.ts); a missing property is null. */
export function toRefusal(body: unknown) {
  const row = isObject(body) ? body : {};
  return {
    error: text(row.error),
    message: text(row.message),
    email: text(row.email),
    details: isObject(row.details) && isShallow(row.details, MAX_DEPTH) ? row.details : null,
  };
}

export function refusalOf(answer: Answer): GatewayRefusal {
  return toRefusal(jsonOf(answer));
}

/** Whether the answer has one of the gateway's error bodies. An answer without one may come from a proxy. */
export function hasErrorBody(answer: Answer): boolean {
  const { error, message } = refusalOf(answer);
  return error !== null || message !== null;
}

const MAX_WORDS_LENGTH = 2_000;

/** The texts of a refusal, with personal data redacted; null if it has none. */
export function refusalWords({ error, message }: GatewayRefusal) {
  if (error === null && message === null) return null;
  const redacted = (words: string | null) =>
    // Redacts more than is shown, because half of an e-mail address is not recognised.
    words === null ? null : redact(words.slice(0, 2 * MAX_WORDS_LENGTH)).slice(0, MAX_WORDS_LENGTH);
  return { error: redacted(error), message: redacted(message) };
}

// JSON.stringify recurses, so details of an answer that nest deeper could overflow the stack.
const MAX_DEPTH = 32;

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1));
}
