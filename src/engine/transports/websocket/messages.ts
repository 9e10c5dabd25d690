import { MessageType } from 'graphql-ws';
import { parseExactJson } from '../../../lib/exact-json.ts';
import { isObject } from '../../../lib/is-object.ts';

/** An id is retained until its operation ends, and sent with each result. */
const MAX_ID_LENGTH = 255;
const CLIENT_MESSAGES: ReadonlySet<unknown> = new Set([
  MessageType.ConnectionInit,
  MessageType.Ping,
  MessageType.Pong,
  MessageType.Subscribe,
  MessageType.Complete,
]);

/** Parses a message without rounding its numbers. Null if no client may send it; the protocol then closes the socket. */
export function readMessage(text: string): unknown {
  try {
    const message = parseExactJson(text);
    if (!isObject(message) || !CLIENT_MESSAGES.has(message.type)) return null;
    const { id, type, payload } = message;
    if (typeof id === 'string' && id.length > MAX_ID_LENGTH) return null;
    // graphql-ws requires a text in each operation, but a document id may replace it.
    if (type === MessageType.Subscribe && isObject(payload)) payload.query ??= '';
    return message;
  } catch {
    return null;
  }
}
