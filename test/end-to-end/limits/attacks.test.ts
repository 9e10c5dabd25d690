import { getIntrospectionQuery } from 'graphql';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { orderElsewhere } from '../../support/order-elsewhere.ts';
import { keyOf } from '../../support/order-keys.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { turnsDuring } from '../../support/turns.ts';
import { initializedSocket } from '../live/raw-socket.ts';
import { sseClient, webSocketClient } from '../live/watcher.ts';
import { codesOf, type RequestJson, TRANSPORTS } from './every-transport.ts';

const app = sharedApp();
let token: string;
beforeAll(() => {
  token = app.sandbox.token({ email: 'demo@example.com' });
});
beforeEach(() => app.sandbox.clearCalls());

const repeat = (times: number, make: (index: number) => string) =>
  Array.from({ length: times }, (_, index) => make(index)).join(' ');

const deepJson = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

// The other limits of documents are tested in test/engine/documents/documents.test.ts.
test.each<[string, string, RequestJson]>([
  [
    'thirty-one aliases',
    'MAX_ALIASES',
    { query: `{ ${repeat(31, (index) => `a${index}: __typename`)} }` },
  ],
  [
    'a page of nested lists',
    'MAX_COST',
    {
      query:
        'query ($n: Int) { instruments(first: $n) { nodes { positions { id instrument { positions { id symbol instrument { orders { id } } } } } } } }',
      variables: { n: 500 },
    },
  ],
  [
    'variables of a thousand levels',
    'depth of variables',
    {
      query: 'query ($id: ID!) { instrument(id: $id) { id } }',
      variables: { id: JSON.parse(deepJson(1_000)) },
    },
  ],
])('%s is refused by the limit of %s', async (_what, limit, asked) => {
  const details = { limit, value: expect.any(Number), maximum: expect.any(Number) };
  for (const [transport, ask] of TRANSPORTS) {
    const answer = await ask(app, asked, token);
    expect(answer.errors, transport).toContainEqual({
      message: expect.any(String),
      extensions: { code: 'QUERY_TOO_COMPLEX', retryable: false, ...details },
    });
    for (const { extensions } of answer.errors ?? []) {
      expect(extensions.value).toBeGreaterThan(Number(extensions.maximum));
    }
    expect(answer.data).toBeUndefined();
  }
  expect(app.sandbox.calls()).toBe(0);
});

test.each(TRANSPORTS)(
  'by %s a costly query and the introspection of tools are answered, but recursive introspection is refused',
  async (_transport, ask) => {
    const query = `{ __schema { types { ${'fields { type { '.repeat(6)}name${' } }'.repeat(6)} } } }`;
    expect(codesOf(await ask(app, { query }, token))).toContain('GRAPHQL_VALIDATION_FAILED');
    const costly = `{ instruments(first: 500) { nodes { ${'id '.repeat(40)} positions { id } } } }`;
    const { errors, extensions } = await ask(app, { query: costly }, token);
    expect(errors).toBeUndefined();
    // `instruments` and `nodes`, and for each of 500 nodes `id`, `positions` and the ids of five positions.
    expect(extensions?.cost).toBe(2 + 500 * (2 + 5));
    expect(extensions?.fields).toBeGreaterThan(500);
    const tools = getIntrospectionQuery({ specifiedByUrl: true, inputValueDeprecation: true });
    // With its line breaks this query is too long for a URL.
    const { data } = await ask(app, { query: tools.replace(/\s+/g, ' ') });
    expect(data.__schema.types.length).toBeGreaterThan(20);
  },
);

test('new documents of one burst are prepared in separate turns of the event loop', async () => {
  using raw = await initializedSocket(app, token);
  const fields = repeat(25, (index) => `a${index}: session { login balance equity }`);
  const burst = 40;
  for (let document = 0; document < burst; document += 1) {
    raw.subscribe(`burst ${document}`, `query Burst${document} { ${fields} }`);
  }
  const count = (type: string) => raw.messages.filter((message) => message.type === type).length;
  const turns = await turnsDuring(() => eventually(() => expect(count('complete')).toBe(burst)));
  // If all documents were prepared in one turn, there would be only one or two turns.
  expect(count('next')).toBe(burst);
  expect(turns).toBeGreaterThan(20);
});

const HOLDER = 'demo@example.com';
const OPENED_POSITIONS = 70;

const place = (key: string, moreFields: string) =>
  `placeOrder(input: { symbol: "AAPL", side: BUY, kind: MARKET, size: { units: 1 }, idempotencyKey: "${keyOf(key)}" }) {
    __typename ... on OrderAccepted { orderId replayed ${moreFields} }
  }`;

describe('an answer that turns out larger than estimated', () => {
  // The limit allows the estimate, which assumes fifty positions with four fields each. The account has more positions.
  const app = sharedApp({ MAX_COST: '240', POSITIONS_POLL_MS: '100' });
  beforeAll(async () => {
    for (let opened = 0; opened < OPENED_POSITIONS; opened += 1) {
      expect(await orderElsewhere(app.sandbox, HOLDER)).not.toBeNull();
    }
  });

  const freshToken = () => app.sandbox.token({ email: HOLDER });
  const LARGE = '{ positions { id symbol side units } }';

  // The first run of a document is executed by graphql-js, and the second run by compiled code.
  test.each(['first', 'second'])('has only an error in the %s run of its document', async () => {
    const { status, data, errors } = await app.query(LARGE, { token: freshToken() });
    expect(status).toBe(200);
    expect(data).toBeNull();
    const value = errors[0]?.extensions.value;
    expect(value).toBeGreaterThan(4 * OPENED_POSITIONS);
    const message = `The limit of MAX_COST is 240, and the request has ${value}.`;
    const limit = { limit: 'MAX_COST', value, maximum: 240 };
    const extensions = { code: 'QUERY_TOO_COMPLEX', retryable: false, ...limit };
    expect(errors).toEqual([{ message, extensions }]);
  });

  test('has only an error in its deferred part', async () => {
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'multipart/mixed;deferSpec=20220824',
        authorization: `Bearer ${freshToken()}`,
      },
      body: JSON.stringify({ query: `{ __typename ... @defer ${LARGE} }` }),
    });
    const text = await response.text();
    expect(text).toContain('"code":"QUERY_TOO_COMPLEX"');
    expect(text).not.toContain('"symbol"');
  });

  test('keeps the outcomes and the errors of a mutation’s orders, but not what the orders select from the account', async () => {
    const token = freshToken();
    const reads = 'positions { id symbol side units }';
    const { data, errors } = await app.query(
      `mutation {
        a: ${place('budget-a', reads)}
        b: ${place('budget-b', 'message')}
        c: ${place('budget-c', 'message').replace(keyOf('budget-c'), 'no key')}
      }`,
      { token },
    );
    expect(data.a).toMatchObject({ __typename: 'OrderAccepted', replayed: false, positions: null });
    expect(data.a.orderId).toEqual(expect.any(String));
    expect(data.b).toMatchObject({ __typename: 'OrderAccepted', orderId: expect.any(String) });
    expect(data.c).toBeNull();
    expect(errors).toMatchObject([
      { path: ['c'], extensions: { code: 'BAD_USER_INPUT' } },
      { path: ['a', 'positions'], extensions: { code: 'QUERY_TOO_COMPLEX' } },
    ]);
  });

  test.each([
    ['over WebSocket', webSocketClient],
    ['as an event stream', sseClient],
  ] as const)('ends a subscription %s', async (_how, clientFor) => {
    const token = freshToken();
    await using client = clientFor(app, token);
    const watcher = client.watch({}, 'subscription { positions { id symbol side units } }');
    await eventually(() => watcher.ended !== null);
    expect(watcher.ended).toBe('complete');
    expect(codesOf(watcher)).toEqual(['QUERY_TOO_COMPLEX']);
    expect(watcher.lists).toEqual([]);
  });
});
