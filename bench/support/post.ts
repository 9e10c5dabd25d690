import type { Dispatcher } from 'undici';

export function headersOf(token: string): Record<string, string> {
  return { 'content-type': 'application/json', authorization: `Bearer ${token}` };
}

/** Posts a GraphQL request; resolves with the whole answer. */
export async function post(
  to: Dispatcher,
  token: string,
  request: { readonly query: string; readonly variables?: object },
  headers: Readonly<Record<string, string>> = {},
) {
  const { statusCode, body } = await to.request({
    path: '/graphql',
    method: 'POST',
    headers: { ...headersOf(token), ...headers },
    body: JSON.stringify(request),
  });
  return { status: statusCode, text: await body.text() };
}

/** The bytes of a whole request, for requests that an HTTP client would refuse, or make more slowly. */
export function postBytes(
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Buffer {
  const all = { host: '127.0.0.1', ...headers, 'content-length': `${Buffer.byteLength(body)}` };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}
