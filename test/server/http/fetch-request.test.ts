import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { toFetchRequest } from '../../../src/server/http/fetch-request.ts';

const JSON_TYPE = 'application/json';

function fetched(incoming: Partial<IncomingMessage>, body: string | null = null): Request {
  const message = { headers: {}, ...incoming } as IncomingMessage;
  return toFetchRequest(message, body === null ? null : Buffer.from(body), JSON_TYPE);
}

test('a GET has its address, its headers and the negotiated type', () => {
  const request = fetched({
    method: 'GET',
    url: '/graphql?query=%7Ba%7D',
    headers: { host: 'shop.example:8443', accept: 'text/html', 'x-one': '1', cookie: 'a=b' },
  });
  expect(request.method).toBe('GET');
  expect(request.url).toBe('http://shop.example:8443/graphql?query=%7Ba%7D');
  expect(Object.fromEntries(request.headers)).toEqual({
    host: 'shop.example:8443',
    accept: JSON_TYPE,
    'x-one': '1',
    cookie: 'a=b',
  });
});

test('a POST has its body as it was unpacked, and no word of how it came', async () => {
  const request = fetched(
    {
      method: 'POST',
      url: '/graphql',
      headers: {
        'content-type': 'application/graphql+json; charset=utf-8',
        'content-length': '999',
        'content-encoding': 'gzip',
        'transfer-encoding': 'chunked',
      },
    },
    '{"query":"{ a }"}',
  );
  expect(await request.json()).toEqual({ query: '{ a }' });
  expect(Object.fromEntries(request.headers)).toEqual({
    accept: JSON_TYPE,
    'content-type': JSON_TYPE,
  });
});

test('a method that fetch does not know is another that is not allowed', () => {
  expect(fetched({ method: 'TRACE' }).method).toBe('DELETE');
  expect(fetched({ method: 'PUT' }).method).toBe('PUT');
});

test.each([
  ['no host', '/graphql', undefined],
  ['a host that is none', '/graphql', 'a b'],
  ['a host with a user', '/graphql', 'user@example.com'],
  ['a host with a password', '/graphql', ':secret@example.com'],
])('%s makes no difference to its path', (_what, url, host) => {
  expect(fetched({ url, headers: host === undefined ? {} : { host } }).url).toBe(
    'http://localhost/graphql',
  );
});
