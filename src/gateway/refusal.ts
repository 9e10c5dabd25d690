import { redact } from '../lib/redact.ts';
import { jsonOf } from './answer-body.ts';
import type { Answer } from './exchange.ts';
import { readError } from './operations/conventions.ts';

export type GatewayRefusal = Readonly<ReturnType<typeof toRefusal>>;

/** The body of a refusal; a missing property is null. */
export function toRefusal(body: unknown) {
  const { details, ...texts } = readError(body);
  return { ...texts, details: isShallow(details, MAX_DEPTH) ? details : null };
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
