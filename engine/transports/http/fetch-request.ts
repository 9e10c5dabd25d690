import type { IncomingMessage } from 'node:http';

// These headers say how the body came, which is read already.
const OF_THE_BODY = new Set(['content-length', 'content-encoding', 'transfer-encoding']);

/** A request in the form that yoga and its plugins take, with the media type that was negotiated. */
export function toFetchRequest(
  { method = 'GET', url = '/', headers: sent }: IncomingMessage,
  body: Buffer | null,
  accept: string,
): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(sent)) {
    if (!OF_THE_BODY.has(name)) headers.set(name, String(value));
  }
  headers.set('accept', accept);
  // Yoga knows one spelling of it.
  if (body !== null) headers.set('content-type', 'application/json');
  return new Request(addressOf(url, sent.host), {
    method,
    headers,
    ...(body && { body: body as Uint8Array<ArrayBuffer> }),
  });
}

/** A client may send any text as its host: one that is none in an address is left out. */
function addressOf(url: string, host = 'localhost'): URL {
  const address = URL.parse(url, `http://${host}`);
  const isUsable = address !== null && address.username === '' && address.password === '';
  return isUsable ? address : new URL(url, 'http://localhost');
}
