import { type Message, MessageType, validateMessage } from 'graphql-ws';
import { parseExactJson } from '../../lib/exact-json.ts';

const NAMES_A_DOCUMENT = /"(?:documentId|persistedQuery)"/;

interface UncheckedMessage {
  readonly type?: unknown;
  readonly payload?: unknown;
}

/** Reads a message of graphql-transport-ws; null for what is none. Numbers are not rounded. */
export function readMessage(text: string): Message | null {
  try {
    const message = parseExactJson(text) as UncheckedMessage | null;
    // graphql-ws wants a text in each operation, although the id of a document may stand for it.
    if (message?.type === MessageType.Subscribe && NAMES_A_DOCUMENT.test(text)) {
      const { payload } = message;
      if (hasNoText(payload)) payload.query = '';
    }
    return validateMessage(message);
  } catch {
    return null;
  }
}

function hasNoText(payload: unknown): payload is { query?: unknown } {
  return (
    typeof payload === 'object' &&
    payload !== null &&
    (payload as { query?: unknown }).query == null
  );
}
