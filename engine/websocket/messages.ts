import { type Message, MessageType, validateMessage } from 'graphql-ws';
import { mayHoldInexact, parseExactJson } from '../../lib/exact-json.ts';

const NAMES_A_DOCUMENT = /"(?:documentId|persistedQuery)"/;

interface UncheckedMessage {
  readonly type?: unknown;
  readonly payload?: unknown;
}

/** Reads a message of graphql-transport-ws; null for what is none. The numbers of an operation are not rounded. */
export function readMessage(text: string): Message | null {
  try {
    const read = JSON.parse(text) as UncheckedMessage | null;
    if (read?.type !== MessageType.Subscribe) return validateMessage(read);
    const message = mayHoldInexact(text) ? (parseExactJson(text) as UncheckedMessage) : read;
    // graphql-ws wants a text in each operation, although the id of a document may stand for it.
    const { payload } = message;
    if (NAMES_A_DOCUMENT.test(text) && hasNoText(payload)) payload.query = '';
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
