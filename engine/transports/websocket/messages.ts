import { type Message, MessageType, validateMessage } from 'graphql-ws';
import { parseExactJson } from '../../../lib/exact-json.ts';
import { isObject } from '../../../lib/is-object.ts';

const NAMES_A_DOCUMENT = /"(?:documentId|persistedQuery)"/;

/** Reads a message of graphql-transport-ws; null for what is none. Numbers are not rounded. */
export function readMessage(text: string): Message | null {
  try {
    const message = parseExactJson(text);
    const { type, payload } = isObject(message) ? message : {};
    // graphql-ws wants a text in each operation, although the id of a document may stand for it.
    if (type === MessageType.Subscribe && isObject(payload) && NAMES_A_DOCUMENT.test(text)) {
      payload.query ??= '';
    }
    return validateMessage(message);
  } catch {
    return null;
  }
}
