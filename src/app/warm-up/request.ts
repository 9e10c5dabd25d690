/**
 * Headers beside those that every request has. Node keeps headers in the order in which they came, and code that met one
 * order alone is compiled again for the next one.
 */
const HEADERS: readonly (readonly string[])[] = [
  ['accept: application/graphql-response+json, application/json', 'user-agent: node'],
  ['user-agent: curl', 'accept: */*', 'accept-encoding: identity', 'connection: keep-alive'],
  ['accept-language: en', 'accept: application/json', 'x-request-id: warm-up'],
];

/** A request as clients send it, of one kind or another by its turn. */
export function requestOf(method: string, token: string, body: string, turn: number): Buffer {
  const lines = [
    'host: localhost',
    ...(HEADERS[turn % HEADERS.length] ?? []),
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  lines.splice(turn % 2 === 0 ? lines.length : 1, 0, `authorization: Bearer ${token}`);
  return Buffer.from(`${method} /graphql HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}
