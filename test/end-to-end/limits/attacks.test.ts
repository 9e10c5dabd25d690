import { getIntrospectionQuery } from 'graphql';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { extendedSchema } from '../../support/extended-schema.ts';
import { orderElsewhere } from '../../support/order-elsewhere.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { turnsDuring } from '../../support/turns.ts';
import { openRaw } from '../chaos/raw-connection.ts';
import { initializedSocket } from '../live/raw-socket.ts';
import { sseClient, webSocketClient } from '../live/watcher.ts';
import { type Asked, codesOf, TRANSPORTS } from './every-transport.ts';
import { postOf } from './slow-reader.ts';

const app = sharedApp();
let token: string;

beforeAll(() => {
  token = app.sandbox.token({ email: 'demo@example.com' });
});
beforeEach(() => app.sandbox.clearCalls());

const repeat = (times: number, make: (at: number) => string) =>
  Array.from({ length: times }, (_, at) => make(at)).join(' ');

const nested = (levels: number) =>
  `${'positions { instrument { '.repeat(levels)}id${' } }'.repeat(levels)}`;

const deepJson = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

// The other limits of documents are tested in test/engine/documents/documents.test.ts.
test.each<[string, string, Asked]>([
  [
    'thirty-one aliases',
    'MAX_ALIASES',
    { query: `{ ${repeat(31, (at) => `a${at}: __typename`)} }` },
  ],
  ['four thousand and one tokens', 'MAX_TOKENS', { query: `{ ${'a '.repeat(3_999)} }` }],
  ['sixteen levels', 'MAX_DEPTH', { query: `{ ${nested(8)} }` }],
  [
    'a page of nested lists',
    'MAX_COST',
    {
      query:
        'query ($n: Int) { instruments(first: $n) { nodes { positions { id symbol profit instrument { positions { id } } } } } }',
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
  const named = { limit, value: expect.any(Number), maximum: expect.any(Number) };
  for (const [transport, ask] of TRANSPORTS) {
    const answer = await ask(app, asked, token);
    expect(answer.errors, transport).toContainEqual({
      message: expect.any(String),
      extensions: { code: 'QUERY_TOO_COMPLEX', retryable: false, ...named },
    });
    for (const { extensions } of answer.errors ?? []) {
      expect(extensions.value).toBeGreaterThan(Number(extensions.maximum));
    }
    expect(answer.data).toBeUndefined();
  }
  expect(app.sandbox.calls()).toBe(0);
});

test.each(TRANSPORTS)(
  'by %s the most expensive allowed query and the introspection of tools are answered, but recursive introspection is not',
  async (_transport, ask) => {
    const circle = `{ __schema { types { ${'fields { type { '.repeat(6)}name${' } }'.repeat(6)} } } }`;
    expect(codesOf(await ask(app, { query: circle }, token))).toContain(
      'GRAPHQL_VALIDATION_FAILED',
    );
    const costly = `{ instruments(first: 500) { nodes { ${'id '.repeat(40)} positions { id } } } }`;
    const { errors, extensions } = await ask(app, { query: costly }, token);
    expect(errors).toBeUndefined();
    expect(extensions?.cost).toBe(1 + 1 + 500 * (1 + 1 + 50));
    expect(extensions?.fields).toBeGreaterThan(500);
    const tools = getIntrospectionQuery({ specifiedByUrl: true, inputValueDeprecation: true });
    // With its line breaks this query is too long for a URL.
    const { data } = await ask(app, { query: tools.replace(/\s+/g, ' ') });
    expect(data.__schema.types.length).toBeGreaterThan(20);
  },
);

test('new documents of one burst are prepared in separate turns', async () => {
  using raw = await initializedSocket(app, token);
  const fields = Array.from({ length: 25 }, (_, at) => `a${at}: session { login balance equity }`);
  const burst = 40;
  for (let at = 0; at < burst; at += 1) {
    raw.subscribe(`burst ${at}`, `query Burst${at} { ${fields.join(' ')} }`);
  }
  const count = (type: string) => raw.messages.filter((message) => message.type === type).length;
  const turns = await turnsDuring(() => eventually(() => expect(count('complete')).toBe(burst)));
  // If all documents were prepared in one turn, there would be only one or two turns.
  expect(count('next')).toBe(burst);
  expect(turns).toBeGreaterThan(20);
});

const HOLDER = 'demo@example.com';
const HELD = 70;

const place = (key: string, reads: string) =>
  `placeOrder(input: { symbol: "AAPL", side: BUY, kind: MARKET, size: { units: 1 }, idempotencyKey: "${key}" }) {
    __typename ... on OrderAccepted { orderId replayed ${reads} }
  }`;

describe('an answer that turns out larger than estimated', () => {
  // Allows the estimate, which assumes fifty positions, with four fields each. The account has more positions.
  const app = sharedApp({ MAX_COST: '240', POSITIONS_POLL_MS: '100' });
  beforeAll(async () => {
    for (let at = 0; at < HELD; at += 1) {
      expect(await orderElsewhere(app.sandbox, HOLDER)).not.toBeNull();
    }
  });

  const fresh = () => app.sandbox.token({ email: HOLDER });
  const LARGE = '{ positions { id symbol side units } }';

  test.each(['first', 'compiled'])('ends with only an error: the %s run', async () => {
    const { status, data, errors } = await app.query(LARGE, { token: fresh() });
    expect(status).toBe(200);
    expect(data).toBeNull();
    const message = 'The limit of MAX_COST is 240, and the request has 241.';
    const limit = { limit: 'MAX_COST', value: 241, maximum: 240 };
    const extensions = { code: 'QUERY_TOO_COMPLEX', retryable: false, ...limit };
    expect(errors).toEqual([{ message, extensions }]);
  });

  test('keeps the outcomes and the errors of a mutation, and drops its reads', async () => {
    const token = fresh();
    const reads = 'positions { id symbol side units }';
    const { data, errors } = await app.query(
      `mutation {
        a: ${place('budget-a', reads)}
        b: ${place('budget-b', 'message')}
        c: ${place('', 'message')}
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
    const token = fresh();
    await using client = clientFor(app, token);
    const watcher = client.watch({}, 'subscription { positions { id symbol side units } }');
    await eventually(() => watcher.ended !== null);
    expect(watcher.ended).toBe('complete');
    expect(codesOf(watcher)).toEqual(['QUERY_TOO_COMPLEX']);
    expect(watcher.lists).toEqual([]);
  });
});

test('cached answers cost fields, also if the client has them', async () => {
  const limits = { MAX_COST: '510' };
  await using app = await startTestApp(limits, { refills: false });
  const text = '{ instruments(first: 500) { nodes { id } } }';
  const url = `${app.url}/graphql?query=${encodeURIComponent(text)}`;
  const headers = { authorization: `Bearer ${await app.signIn()}`, accept: 'application/json' };
  const etag = (await fetch(url, { headers })).headers.get('etag') ?? '';
  const asked = async (times: number, more = {}) => {
    const statuses: number[] = [];
    for (let at = 0; at < times; at += 1)
      statuses.push((await fetch(url, { headers: { ...headers, ...more } })).status);
    return statuses;
  };
  expect(new Set(await asked(8, { 'if-none-match': etag }))).toEqual(new Set([304]));
  expect(new Set(await asked(8))).toEqual(new Set([200]));
  expect((await asked(8)).at(-1)).toBe(429);
});

const TIMES = 20;
let reads = 0;
let onRead = () => {};
const read = () => {
  reads += 1;
  onRead();
  return 'x';
};
const counting = sharedApp(
  { SANDBOX_INSTRUMENTS: '500' },
  { schema: extendedSchema(['Instrument'], { counted: { sharing: null, read } }) },
);

const catalogs = Array.from({ length: TIMES }, (_, at) => {
  return `c${at}: catalog { instruments { countedText id name description calc delayed } }`;
}).join(' ');
const QUERY = `query Left { ${catalogs} }`;
const MUTATION = `mutation Left { login(input: { email: "demo@example.com", password: "demo" }) {
  ... on LoginSuccess { ${catalogs} }
} }`;

async function sendRaw(text: string, token: string) {
  const { socket } = await openRaw(counting.url);
  onRead = () => void socket.destroy();
  socket.write(postOf(text, { token }));
}

async function subscribe(text: string, token: string) {
  const raw = await initializedSocket(counting, token);
  onRead = () => raw.stream.destroy();
  raw.subscribe('1', text);
}

test.each([
  ['a query', QUERY, false, sendRaw],
  ['a mutation', MUTATION, true, sendRaw],
  ['a query of a WebSocket', QUERY, false, subscribe],
])('%s whose client has left completes only if it writes', async (_, text, isComplete, begin) => {
  const token = await counting.signIn();
  reads = 0;
  await begin(text, token);
  await eventually(() => reads > 0);
  // Waits until no more fields are read.
  let [seen, unchanged] = [0, 0];
  await eventually(() => {
    unchanged = reads === seen ? unchanged + 1 : 0;
    seen = reads;
    return unchanged === 20;
  });
  expect(reads === TIMES * 500).toBe(isComplete);
});
