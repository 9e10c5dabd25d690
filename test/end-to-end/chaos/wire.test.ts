import { once } from 'node:events';
import { beforeAll, describe, expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { eventually } from '../../support/eventually.ts';
import { rawPost, rawRequest } from '../../support/raw-request.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { startedOnce } from '../../support/started.ts';
import { UPGRADE } from '../../support/websocket-frames.ts';
import { TRANSPORTS } from '../limits/every-transport.ts';
import { statusesIn } from '../limits/slow-reader.ts';
import { openRaw, statusesOf } from './raw-connection.ts';

const app = sharedApp();

const QUERY = '{"query":"{ __typename }"}';
const POST = 'POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n';
const ALIVE = 'GET /health/live HTTP/1.1\r\nhost: a\r\n\r\n';

describe('an upgrade to another protocol', () => {
  test('is ignored: some clients try HTTP/2 first, and can use HTTP/1.1', async () => {
    using raw = await openRaw(app.url);
    const offer =
      'connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n';
    raw.socket.write(`${POST}${offer}content-length: ${QUERY.length}\r\n\r\n${QUERY}`);
    await eventually(() => expect(raw.received).toContain('"__typename":"Query"'));
    expect(raw.received).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('affects no other client if its connection is reset at once', async () => {
    for (const path of ['/nowhere', '/graphql']) {
      for (let time = 0; time < 50; time += 1) {
        using raw = await openRaw(app.url);
        raw.socket.write(
          `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n${'x'.repeat(time * 1_000)}`,
        );
        const closed = once(raw.socket, 'close');
        if (time % 2 === 0) raw.socket.resetAndDestroy();
        else setImmediate(() => raw.socket.resetAndDestroy());
        await closed;
      }
    }
    expect((await app.query('{ __typename }')).data).toEqual({ __typename: 'Query' });
  });
});

test('an upgrade is ignored while earlier requests of its connection are unanswered', async () => {
  const post = `${POST}content-length: ${QUERY.length}\r\n\r\n${QUERY}`;
  using raw = await openRaw(app.url);
  raw.socket.write(post + post + UPGRADE);
  // Without the upgrade the last request is a GET without a query.
  await eventually(() => expect(statusesIn(raw)).toEqual(['200', '200', '400']));
});

test('the target of a request or an upgrade can be a whole URL', async () => {
  const withWholeUrl = (request: string) => request.replace('/', 'HTTP://a:80/');
  const get = (path: string) => `GET http://a${path} HTTP/1.1\r\nhost: a\r\n\r\n`;
  const query = '/graphql?query={__typename}';
  const fromOtherSite = get(query).replace('\r\n', '\r\norigin: https://evil.example\r\n');
  const requests = [withWholeUrl(ALIVE), get(query), get('/metrics'), get(''), fromOtherSite];
  // `statusesOf` adds a request, whose status is the last.
  const statuses = ['200', '200', '404', '200', '403', '200'];
  expect(await statusesOf(app.url, requests.join(''))).toEqual(statuses);
  using raw = await openRaw(app.url);
  raw.socket.write(withWholeUrl(UPGRADE));
  await eventually(() => expect(raw.received).toMatch(/^HTTP\/1\.1 101 /));
});

describe('a request that two servers could parse differently', () => {
  // A server that reads chunks sees an empty body and another request. A server that reads the length of six bytes takes
  // `0\r\n\r\nG` as the body.
  const hidden = `0\r\n\r\n${ALIVE}`;

  test.each([
    ['with a length and in chunks', 'content-length: 6\r\ntransfer-encoding: chunked'],
    ['with two lengths', 'content-length: 6\r\ncontent-length: 7'],
    ['with a list of lengths', 'content-length: 6, 6'],
    ['with a sign before the length', 'content-length: +6'],
    ['with another encoding after `chunked`', 'transfer-encoding: chunked, identity'],
    ['with a blank before the colon', 'content-length : 6'],
    ['with a folded header', 'x-folded: a\r\n b\r\ncontent-length: 6'],
    ['with a NUL in a header', 'x-nul: a\0b\r\ncontent-length: 6'],
  ])('is refused, and the bytes after it are not answered: %s', async (_what, headers) => {
    expect(await statusesOf(app.url, `${POST}${headers}\r\n\r\n${hidden}`)).toEqual(['400']);
  });

  test('cannot be hidden in the body of a GET', async () => {
    const inner = 'GET /health/ready HTTP/1.1\r\nhost: a\r\n\r\n';
    const get = `GET /health/live HTTP/1.1\r\nhost: a\r\ncontent-length: ${inner.length}\r\n\r\n`;
    // The outer GET and the request that `statusesOf` adds are answered.
    expect(await statusesOf(app.url, get + inner)).toEqual(['200', '200']);
  });
});

test('pipelined requests are answered in order, and those for metrics with 404', async () => {
  const metrics = ['/metrics', '/../metrics', '//metrics', '/%6detrics', '/graphql/../metrics'];
  const requests = ['/health/live', ...metrics, '/health/live', '/graphql'].map(
    (path) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`,
  );
  const notFound = metrics.map(() => '404');
  // The 400 is for a GET without a query. The last status is for the request that `statusesOf` adds.
  const expected = ['200', ...notFound, '200', '400', '200'];
  expect(await statusesOf(app.url, requests.join(''))).toEqual(expected);
});

test.each([
  ['too many headers', '431', 'x: y\r\n'.repeat(4_000)],
  ['a header that is too long', '431', `x: ${'y'.repeat(20_000)}\r\n`],
  ['an Expect header that cannot be met', '417', 'expect: miracles\r\n'],
])('%s gets %s', async (_what, status, headers) => {
  using raw = await openRaw(app.url);
  raw.socket.write(`GET /health/live HTTP/1.1\r\nhost: a\r\n${headers}\r\n`);
  await once(raw.socket, 'data');
  expect(raw.received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
});

const sandbox = startedOnce(() => startSandbox({ seed: 'production', instruments: 20, tickMs: 0 }));
const inProduction = sharedApp({ NODE_ENV: 'production' }, { gateway: sandbox });

/** Expects no trace of the program's files, its stack, the schema or the gateway's address. */
function expectNothingShown(text: string): void {
  for (const word of ['Did you mean', ' at ', '.ts:', 'node_modules', '127.0.0.1', 'stack']) {
    expect(text).not.toContain(word);
  }
  expect(text).not.toContain(String(sandbox.port));
}

test.each(TRANSPORTS)(
  'in production a gateway error by %s shows its code and operation, but no address',
  async (_transport, ask) => {
    sandbox.fail({ operation: 'getCustomerId', kind: 'reset-before' });
    const answer = await ask(
      inProduction,
      { query: '{ customerId }' },
      sandbox.token({ email: 'demo@example.com' }),
    );
    sandbox.clearFaults();
    expectNothingShown(JSON.stringify(answer));
    expect(answer.extensions).toBeUndefined();
    expect(answer.errors?.map(({ extensions }) => extensions)).toEqual([
      { code: 'GATEWAY_UNAVAILABLE', retryable: true, operation: 'getCustomerId' },
    ]);
  },
);

test('in production neither GraphiQL nor a file nor the sandbox is served', async () => {
  const graphiql = ['/graphiql', '/graphiql/0123456789abcdef/graphiql.js'];
  const others = ['/schema.graphql', '/metrics', '/sandbox/calls', '/.env', '/src/main.ts'];
  const headers = { accept: 'text/html' };
  for (const path of [...graphiql, ...others]) {
    for (const method of ['GET', 'POST']) {
      const answer = await rawRequest(`${inProduction.url}${path}`, { method, headers });
      expect([answer.status, answer.text], path).toEqual([404, '{"error":"not found"}']);
      expect(answer.headers).not.toHaveProperty('server');
      expect(answer.headers).not.toHaveProperty('x-powered-by');
    }
  }
  const answer = await rawRequest(`${inProduction.url}/graphql`, { headers });
  expect(answer.headers['content-type']).not.toContain('html');
  expectNothingShown(answer.text);
});

let token: string;
beforeAll(() => {
  token = app.sandbox.token({ email: 'demo@example.com' });
});

/** Sends the variables as text, because JSON can express what an object of JavaScript cannot. */
async function send(query: string, variables = '{}') {
  const body = `{"query":${JSON.stringify(query)},"variables":${variables}}`;
  const { text } = await rawPost(`${app.url}/graphql`, body, { authorization: `Bearer ${token}` });
  return { text, ...JSON.parse(text) };
}

describe('names of Object.prototype', () => {
  test('are names like any others in documents, ids and variables', async () => {
    const byId = 'query ($__proto__: ID!) { instrument(id: $__proto__) { id } }';
    expect((await send(byId, '{"__proto__":"AAPL"}')).data).toEqual({
      instrument: { id: 'AAPL' },
    });
    const missing = await send(byId.replaceAll('__proto__', 'constructor'));
    expect(missing.errors[0].extensions.code).toBe('BAD_USER_INPUT');
    const { text } = await send(
      'query toString { __proto__: __typename constructor: __typename ...hasOwnProperty } fragment hasOwnProperty on Query { valueOf: __typename }',
    );
    expect(text).toContain('"data":{"__proto__":"Query","constructor":"Query","valueOf":"Query"}');
    const { data } = await send(
      '{ a: instrument(id: "__proto__") { id } b: position(id: "constructor") { id } c: order(id: "toString") { id } }',
    );
    expect(data).toEqual({ a: null, b: null, c: null });
    for (const documentId of ['__proto__', 'constructor']) {
      const answer = await rawPost(`${app.url}/graphql`, JSON.stringify({ documentId }));
      expect(answer.text).toContain('PERSISTED_DOCUMENT_NOT_FOUND');
    }
  });

  test('reach the gateway as plain values, without prototype pollution', async () => {
    app.sandbox.clearCalls();
    const value = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    const { data } = await send(
      'mutation ($v: JSON) { setValue(input: { key: "k", value: $v }) { __typename } }',
      `{"v":${value}}`,
    );
    expect(data.setValue.__typename).toBe('Acknowledged');
    expect(String(app.sandbox.requests('setValue')[0]?.body)).toContain(value);
    expect('polluted' in {}).toBe(false);
    const login = await send(
      'mutation ($i: LoginInput!) { login(input: $i) { __typename } }',
      '{"i":{"__proto__":{"email":"demo@example.com","password":"demo"}}}',
    );
    expect(login.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });
});
