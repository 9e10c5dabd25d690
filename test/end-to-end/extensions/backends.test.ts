import { beforeEach, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { forgedToken, withClaims } from '../../support/tokens.ts';
import { openSocket } from '../live/raw-socket.ts';
import { seriesValue } from '../operations/scraped.ts';
import type { Reply } from './side-service.ts';
import { useExtension } from './use-extension.ts';

const { sandbox, service, facade, query, tokenOf } = useExtension('side-graph.ts', (url) => ({
  SIDE_URL: `${url}/base`,
  GATEWAY_FORWARD_HEADERS: 'x-key',
}));

beforeEach(() => {
  service.answer = () => ({ status: 200, body: 'fine' });
});

test('a path’s segments are filled in, and one that could leave its segment is never sent', async () => {
  expect((await query('{ item(id: "a b/c") }')).data).toEqual({ item: 'fine' });
  expect(service.received.map(({ path }) => path)).toEqual(['/base/items/a%20b%2Fc']);
  for (const id of ['..', '', 'a/../b']) {
    const { errors } = await query('query ($id: String!) { item(id: $id) }', { variables: { id } });
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument: 'id' } }]);
  }
  expect(service.received).toHaveLength(1);
});

test('a read without retries is sent once, its 408 is a time-out, and an answer that is no JSON is none', async () => {
  for (const [status, code, body] of [
    [500, 'GATEWAY_UNAVAILABLE', { message: 'no' }],
    [408, 'GATEWAY_TIMEOUT', { message: 'no' }],
    [400, 'GATEWAY_REFUSED', { message: 'no' }],
    [200, 'GATEWAY_CONTRACT', undefined],
  ] as const) {
    service.received.length = 0;
    service.answer = () => ({ status, body });
    const { errors } = await query('{ item(id: "a") }');
    expect(errors).toMatchObject([{ extensions: { code, operation: 'side.item' } }]);
    expect(service.received).toHaveLength(1);
  }
});

test.each([414, 431])(
  'a read that is too long, which is answered with %i, is the caller’s',
  async (status) => {
    service.answer = () => ({ status, body: undefined });
    const counted = () =>
      seriesValue(
        facade,
        'gateway_calls_total{operation="side.item",origin="request",outcome="4xx"}',
      );
    const before = await counted();
    for (const judged of [false, true]) {
      const document = `{ ask(request: { path: { id: "a" } }, judged: ${judged}) }`;
      const { errors } = await query(document);
      expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    }
    expect(await counted()).toBe(before + 1);
  },
);

test('the user’s token goes to a service that it is forwarded to, once it is proved', async () => {
  const token = tokenOf();
  expect((await query('{ mine }', { token })).data).toEqual({ mine: 'fine' });
  expect(service.received[0]?.headers.authorization).toBe(`Bearer ${token}`);
  const forged = withClaims(tokenOf('pro@example.com'), { login: '700001' });
  expect((await query('{ mine }', { token: forged })).errors).toHaveLength(1);
  expect((await query('{ mine }')).errors).toHaveLength(1);
  expect(service.received).toHaveLength(1);
  service.answer = () => ({ status: 401, body: { message: 'of the inside' } });
  const { errors } = await query('{ mine }', { token });
  // The gateway accepts the token: no client is to sign in anew for this.
  expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN', operation: 'own.mine' } }]);
  expect(errors[0]?.extensions).not.toHaveProperty('gatewayError');
  sandbox.clearCalls();
  expect((await query('{ positions { id } }', { token })).errors).toEqual([]);
  expect(sandbox.calls('getSession')).toBe(0);
});

test('a resolver has the request’s id, its signal, the viewer’s positions and instruments', async () => {
  const headers = { 'x-request-id': 'asked-for-it' };
  const { data } = await query('{ request }', { token: tokenOf(), headers });
  const [id, isAborted, ...rest] = data.request;
  expect([id, isAborted]).toEqual(['asked-for-it', 'false']);
  expect(rest.slice(-2)).toEqual(['Apple Inc.', 'null']);
  expect(rest.slice(0, -2)).toContain('AAPL');
});

test('headers that are to be sent on are those of the request, or of the socket', async () => {
  const token = tokenOf();
  const headers = { 'x-tenant': 'acme', cookie: 'a=b' };
  expect((await query('{ tenant }', { token, headers })).data).toEqual({ tenant: 'acme' });
  using raw = await openSocket(facade);
  const wrong = {
    'x tenant': 'a',
    'x-other': 'a\r\nb: c',
    'x-number': 7,
    Authorization: 'Bearer x',
  };
  const given = { 'X-Tenant': 'of the socket', ...wrong };
  raw.say({
    type: 'connection_init',
    payload: { authorization: `Bearer ${token}`, headers: given },
  });
  raw.subscribe('1', '{ tenant }');
  expect((await raw.until('1', 'next')).payload?.data).toEqual({ tenant: 'of the socket' });
  expect((await query('{ tenant }')).data).toEqual({ tenant: null });
  const sent = service.received.map(({ headers }) => [
    headers['x-tenant'],
    headers.authorization,
    headers.cookie,
  ]);
  expect(sent).toEqual([
    ['acme', undefined, undefined],
    ['of the socket', undefined, undefined],
    [undefined, undefined, undefined],
  ]);
});

test('a header of the backend’s own is sent once, whatever a client sends by its name', async () => {
  const { errors } = await query('{ ofLogin }', {
    token: tokenOf(),
    headers: { 'x-key': 'of a client' },
  });
  expect(errors).toEqual([]);
  expect(service.received.map(({ headers }) => headers['x-key'])).toEqual(['of the service']);
});

test('a batch has at most as many keys as it says, in turn', async () => {
  service.answer = ({ path }) => {
    const ids = new URL(path, 'http://side').searchParams.get('ids')?.split(' ') ?? [];
    return { status: 200, body: Object.fromEntries(ids.map((id) => [id, `item ${id}`])) };
  };
  const document = '{ instrumentsByIds(ids: ["AAPL", "EURUSD", "XAUUSD"]) { item } }';
  const { data } = await query(document, { token: tokenOf() });
  expect(data.instrumentsByIds.map(({ item }: { item: string }) => item)).toEqual([
    'item AAPL',
    'item EURUSD',
    'item XAUUSD',
  ]);
  expect(service.received).toHaveLength(2);
});

test('what a write’s result selects is read after the write, for a proved account', async () => {
  const { data } = await query('mutation { create { body item } }', { token: tokenOf() });
  expect(data).toEqual({ create: { body: 'fine', item: 'fine' } });
  const sent = service.received.map(({ method, path }) => `${method} ${path}`);
  expect(sent).toEqual(['GET /base/items/a', 'POST /base/items', 'GET /base/items/a']);
  for (const by of [{}, { token: forgedToken(1) }]) {
    service.received.length = 0;
    expect((await query('mutation { create { body } }', by)).errors).toMatchObject([
      { extensions: { code: 'UNAUTHENTICATED' } },
    ]);
    expect(service.received.map(({ method }) => method)).toEqual(['GET']);
  }
});

test('a resolver that reads again what it has written gets it as it is now', async () => {
  service.answer = ({ method }) => ({
    status: 200,
    body: { a: service.received.some((one) => one.method === 'POST') ? 'new' : 'old', method },
  });
  const { data } = await query('mutation { reread }', { token: tokenOf() });
  expect(data.reread).toEqual([
    [{ a: 'old', method: 'GET' }, 'old'],
    [{ a: 'new', method: 'GET' }, 'new'],
  ]);
});

const SEND =
  'mutation ($operation: String!, $request: JSON!, $judged: Boolean) { send(operation: $operation, request: $request, judged: $judged) }';

test.each<[what: string, reply: Reply, plain: unknown, judged: unknown]>([
  ['JSON', { status: 200, body: { ok: 1 } }, { ok: 1 }, 1],
  ['nothing', { status: 204, body: null }, null, 'undefined'],
  ['a page', { status: 200, body: undefined }, 'OUTCOME_UNKNOWN', 'OUTCOME_UNKNOWN'],
  ['a page of a refusal', { status: 404, body: undefined }, 'OUTCOME_UNKNOWN', 'OUTCOME_UNKNOWN'],
  ['what judge cannot read', { status: 201, body: null }, null, 'OUTCOME_UNKNOWN'],
  ['what is cut off', 'cut', 'OUTCOME_UNKNOWN', 'OUTCOME_UNKNOWN'],
  ['nothing at all', 'reset', 'OUTCOME_UNKNOWN', 'OUTCOME_UNKNOWN'],
  ['a redirect', { status: 302, body: { ok: 1 } }, 'OUTCOME_UNKNOWN', 1],
  ['a time-out', { status: 408, body: { ok: 1 } }, 'OUTCOME_UNKNOWN', 1],
  ['a refusal', { status: 409, body: { message: 'no' } }, 'BAD_USER_INPUT', 'REFUSED'],
])(
  'a write by each method that is answered with %s is known or said to be unknown, and sent once',
  async (_what, reply, plain, ofJudge) => {
    const token = tokenOf();
    const methods = { create: 'POST', replace: 'PUT', amend: 'PATCH', remove: 'DELETE' };
    for (const [operation, method] of Object.entries(methods)) {
      for (const [judged, expected] of [
        [false, plain],
        [true, ofJudge],
      ] as const) {
        // The one before leaves a connection that is used again.
        service.answer = () => ({ status: 200, body: { ok: 'kept' } });
        await query('{ ask(request: { path: { id: "a" } }) }');
        service.answer = () => reply;
        service.received.length = 0;
        const variables = { operation, judged, request: { path: { id: 'a' } } };
        const { data, errors } = await query(SEND, { token, variables });
        const [code = data.send] = errors.map(({ extensions }) => extensions.code);
        expect([method, judged, code]).toEqual([method, judged, expected]);
        if (code === 'OUTCOME_UNKNOWN') {
          const name = `${judged ? 'judged' : 'side'}.${operation}`;
          expect(errors[0]?.extensions).toMatchObject({ operation: name, retryable: false });
        }
        if (code === 'BAD_USER_INPUT') {
          expect(errors[0]?.message).toBe('no');
          expect(errors[0]?.extensions).not.toHaveProperty('argument');
        }
        const body = method === 'DELETE' ? '' : '{}';
        expect(service.received).toMatchObject([{ method, body }]);
        expect(service.received[0]?.headers['content-type'] ?? null).toBe(
          method === 'DELETE' ? null : 'application/json',
        );
      }
    }
  },
);

test('that a judge has failed is its extension’s fault in the log', async () => {
  service.answer = () => ({ status: 201, body: null });
  await query(SEND, {
    token: tokenOf(),
    variables: { operation: 'create', judged: true, request: {} },
  });
  const wanted = [
    '"operation":"judged.create"',
    "of null (reading 'ok')",
    '"extension":"side-graph"',
  ];
  await eventually(() => facade.logged.some((line) => wanted.every((part) => line.includes(part))));
});

test('each write has a key: the caller’s, the request’s where it is forwarded, or one of its own', async () => {
  const token = tokenOf();
  const headers = { 'idempotency-key': 'of the request' };
  const path = { id: 'a' };
  const send = async (judged: boolean, request: object) => {
    service.received.length = 0;
    const variables = { operation: 'remove', judged, request: { path, ...request } };
    const { errors } = await query(SEND, { token, headers, variables });
    const [sent] = service.received;
    return sent?.headers['idempotency-key'] ?? errors[0]?.extensions;
  };
  const uuid = /^[\da-f]{8}-[\da-f-]{27}$/;
  expect(await send(false, { body: { a: 1 } })).toMatch(uuid);
  expect(service.received[0]).toMatchObject({
    body: '{"a":1}',
    headers: { 'content-type': 'application/json' },
  });
  expect(await send(false, {})).not.toBe(await send(false, {}));
  expect(await send(true, {})).toBe('of the request');
  expect(await send(true, { idempotencyKey: 'mine' })).toBe('mine');
  for (const idempotencyKey of ['', ' a', 'é', 'a'.repeat(256)]) {
    const refused = { code: 'BAD_USER_INPUT', argument: 'idempotencyKey' };
    expect(await send(false, { idempotencyKey })).toMatchObject(refused);
  }
  expect(await send(false, { idempotencyKey: 7 })).toMatchObject({ code: 'INTERNAL' });
});

test('each write of a request has a key of its own, and the same one when the request is sent again', async () => {
  const token = tokenOf();
  const headers = { 'idempotency-key': 'of the request' };
  const write = 'send(operation: "create", request: { body: { a: 1 } }, judged: true)';
  const document = `mutation { a: ${write} ... on Mutation { b: ${write} } twice }`;
  const keysOf = async (options: object) => {
    service.received.length = 0;
    await query(document, { token, headers, ...options });
    return service.received.map(({ headers }) => headers['idempotency-key']);
  };
  service.answer = () => ({ status: 200, body: { ok: 1 } });
  const keys = await keysOf({});
  expect(keys).toEqual([
    'of the request',
    'of the request:b',
    'of the request:twice',
    'of the request:twice:2',
  ]);
  expect(await keysOf({})).toEqual(keys);
});

test('a write that follows a sign-in is for whom the request is, as the service’s own writes are', async () => {
  const login = 'login(input: { email: "pro@example.com", password: "demo" })';
  const document = `mutation { ${login} { __typename } whose }`;
  await query(document, { token: tokenOf() });
  expect(service.received.map(({ headers }) => headers['x-login'])).toEqual(['700001']);
  const { errors } = await query(document);
  expect(errors).toMatchObject([{ path: ['whose'], extensions: { code: 'UNAUTHENTICATED' } }]);
});

test('writes that the backend refuses count for the limit, as a guess at a code is one', async () => {
  const token = tokenOf('fresh@example.com');
  const MAX_WRITES = 200;
  service.answer = () => ({ status: 409, body: { message: 'no' } });
  for (const [judged, code] of [
    [false, 'BAD_USER_INPUT'],
    [true, 'REFUSED'],
  ] as const) {
    service.received.length = 0;
    const variables = { operation: 'create', judged, request: {} };
    const codes: unknown[] = [];
    while (codes.length <= MAX_WRITES && codes.at(-1) !== 'RATE_LIMITED') {
      const { errors } = await query(SEND, { token, variables });
      codes.push(errors[0]?.extensions.code);
    }
    expect(codes.at(-1)).toBe('RATE_LIMITED');
    expect(new Set(codes.slice(0, -1))).toEqual(new Set([code]));
    expect(service.received).toHaveLength(codes.length - 1);
  }
});

test('a resolver that goes on after its deadline acts for whom it was begun', async () => {
  const answer = Promise.withResolvers<Reply>();
  service.answer = ({ path }) =>
    path.endsWith('/slow') ? answer.promise : { status: 200, body: 'fine' };
  const login = 'login(input: { email: "pro@example.com", password: "demo" })';
  const document = `mutation { late ${login} { ... on LoginSuccess { session { id } } } }`;
  const { data, errors } = await query(document, { token: tokenOf() });
  expect(data.login.session.id).not.toBe('700001');
  expect(errors).toMatchObject([{ path: ['late'] }]);
  answer.resolve({ status: 200, body: 'late' });
  await eventually(() => expect(service.received).toHaveLength(2));
  expect(service.received[1]?.headers['x-login']).toBe('700001');
});

test('a path and a query have strings alone, and what is none is said in the log', async () => {
  for (const [request, reason] of [
    [
      { path: { id: 'a' }, query: { login: { login: '1' } } },
      'query.login of side.item must be a string (it is an object)',
    ],
    [{ path: { id: 7 } }, 'path.id of side.item must be a string (it is 7)'],
    [{}, 'path.id of side.item must be a string (it is undefined)'],
    [{ path: { id: 'a' }, query: 'a=b' }, 'query of side.item must be an object of strings'],
  ] as const) {
    const asked = 'query ($request: JSON!) { ask(request: $request) }';
    const { errors } = await query(asked, { variables: { request } });
    expect(errors).toMatchObject([{ extensions: { code: 'INTERNAL' } }]);
    await eventually(() => facade.logged.some((line) => line.includes(reason)));
  }
  expect(service.received).toEqual([]);
  expect((await query('{ sharedMine }')).errors).toHaveLength(1);
  const toldOf = 'tenants.tenant sends the viewer’s x-tenant: nothing that is shared reads it';
  await eventually(() => facade.logged.some((line) => line.includes(toldOf)));
  // The login that TypeScript cannot see is none.
  expect((await query('{ proof }', { token: tokenOf() })).errors).toHaveLength(1);
  const said = 'proved() resolves with { login }, which is no text itself';
  await eventually(() => facade.logged.some((line) => line.includes(said)));
});

test('a page in place of JSON is never shown to judge, a read’s no more than a write’s', async () => {
  service.answer = () => ({ status: 200, body: undefined });
  const { errors } = await query('{ ask(request: { path: { id: "a" } }, judged: true) }');
  expect(errors).toMatchObject([
    { extensions: { code: 'GATEWAY_CONTRACT', operation: 'judged.item' } },
  ]);
});

test('who leaves does not abort what others share', async () => {
  const answer = Promise.withResolvers<Reply>();
  service.answer = () => answer.promise;
  const leaving = new AbortController();
  const abortedBefore = service.aborted;
  const body = JSON.stringify({ query: '{ shared private }' });
  const headers = { 'content-type': 'application/json' };
  const first = fetch(`${facade.url}/graphql`, {
    method: 'POST',
    headers,
    body,
    signal: leaving.signal,
  });
  await eventually(() => expect(service.received).toHaveLength(2));
  const second = query('{ shared }');
  leaving.abort();
  await expect(first).rejects.toThrow();
  // The one that is the leaving request's own is aborted, and the shared one is still there.
  await eventually(() => expect(service.aborted).toBe(abortedBefore + 1));
  answer.resolve({ status: 200, body: 'late' });
  expect((await second).data).toEqual({ shared: 'late' });
  expect(service.received).toHaveLength(2);
});

test.each<[field: string, variables: Record<string, unknown>, size: number]>([
  ['limited(limit: 700) { body }', {}, 700],
  ['limited(limit: $limit) { body }', { limit: 700 }, 700],
  ['limited(limit: $limit) { body }', {}, 10],
  ['limited { body }', {}, 10],
  ['limited(limit: null) { body }', {}, 9_000],
  ['limited(limit: 2000000) { body }', {}, 9_000],
  ['limited(limit: -5) { body }', {}, 0],
  ['page(first: 3) { nodes { body } }', {}, 1 + 3],
  ['page(first: $limit) { nodes { body } }', { limit: 30 }, 1 + 30],
  ['page(first: $limit) { nodes { body } }', {}, 1 + 20],
  ['page { nodes { body } }', {}, 1 + 20],
  ['sized(limit: 700) { nodes { body } }', {}, 1 + 700],
])(
  'a list, or a page’s, is as large as its argument says: %s %j',
  async (field, variables, size) => {
    const fields = [...Array.from({ length: 28 }, (_, at) => `m${at}: many { body }`), field];
    const head = field.includes('$') ? 'query ($limit: Int)' : 'query';
    const { errors } = await query(`${head} { ${fields.join(' ')} }`, { variables });
    const value = 28 * 9_001 + 1 + size;
    expect(errors).toMatchObject([
      { extensions: { code: 'QUERY_TOO_COMPLEX', limit: 'MAX_COST', value } },
    ]);
  },
);
