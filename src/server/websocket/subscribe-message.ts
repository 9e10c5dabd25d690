import { mayHoldInexact, parseExactJson } from '../../lib/exact-json.ts';

const NAMES_A_DOCUMENT = /"(?:documentId|persistedQuery)"/;
const UNREADABLE = '';

interface Message {
  readonly type?: unknown;
  readonly payload?: unknown;
}

/**
 * Reads a message for graphql-ws, which parses nearly all of them by itself. But it refuses an
 * operation without a document, although a document id may stand for one, and it rounds numbers.
 */
export function readMessage(text: string): string {
  const namesDocument = NAMES_A_DOCUMENT.test(text);
  if (!namesDocument && !mayHoldInexact(text)) return text;
  const message = parsed(text);
  // The library reports the errors of any other message, and echoes a ping as it came.
  if (message === null) return UNREADABLE;
  if (message.type !== 'subscribe') return text;
  const { payload } = message;
  if (namesDocument && isWithoutText(payload)) payload.query = '';
  // The library accepts a parsed message; its types only know strings.
  return message as unknown as string;
}

function parsed(text: string): Message | null {
  try {
    return parseExactJson(text) as Message | null;
  } catch {
    return null;
  }
}

function isWithoutText(payload: unknown): payload is { query?: unknown } {
  return (
    typeof payload === 'object' &&
    payload !== null &&
    (payload as { query?: unknown }).query == null
  );
}
