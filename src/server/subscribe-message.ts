import { mayHoldInexact, parseExactJson } from '../lib/exact-json.ts';

const NAMES_A_DOCUMENT = /"(?:documentId|persistedQuery)"/;
const UNREADABLE = '';

interface Message {
  readonly type?: unknown;
  readonly payload?: unknown;
}

/**
 * A message as the protocol's library is to take it, which reads nearly all of them by itself. But it
 * has no operation without a text, although an id stands for one, and it rounds numbers.
 */
export function readMessage(text: string): string {
  const namesDocument = NAMES_A_DOCUMENT.test(text);
  if (!namesDocument && !mayHoldInexact(text)) return text;
  const message = parsed(text);
  // Of what is wrong with any other the library says so; a ping goes back as it came.
  if (message === null) return UNREADABLE;
  if (message.type !== 'subscribe') return text;
  const { payload } = message;
  if (namesDocument && isWithoutText(payload)) payload.query = '';
  // The library takes a message that was parsed before; its types know only of texts.
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
