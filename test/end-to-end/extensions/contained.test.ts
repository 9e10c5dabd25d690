import { beforeEach, expect, test } from 'vitest';
import { buying } from '../../support/buying.ts';
import { eventually } from '../../support/eventually.ts';
import { openSocket } from '../live/raw-socket.ts';
import { moved, seriesValue } from '../operations/scraped.ts';
import { useExtension } from './use-extension.ts';

const { sandbox, service, facade, query, tokenOf } = useExtension('faulty-graph.ts', (url) => ({
  SIDE_URL: url,
  NODE_ENV: 'production',
  RATE_LIMIT_PER_MINUTE: '1000000',
  ORDER_STORE: 'memory',
  EXTENSION_TIMEOUT_MS: '1000',
}));

beforeEach(() => {
  service.answer = () => ({ status: 200, body: 'fine' });
});

const FAILURES = [
  ...['throws', 'rejects', 'text', 'unreadable', 'details', 'getters', 'code', 'file', 'itself'],
  ...['never', 'neverNext', 'neverThen'],
];
const VALUES = ['circle', 'bigint', 'getter', 'toJson', 'deep', 'nothing'];

/** How often a fault of the extension was counted. */
const counted = (kind: 'rejection' | 'exception') =>
  seriesValue(facade, `extension_faults_total{extension="faulty-graph",kind="${kind}"}`);

test('a value that JSON cannot carry costs its own field, however it is read', async () => {
  using socket = await openSocket(facade);
  socket.say({ type: 'connection_init' });
  for (const kind of VALUES) {
    const document = `{ value(kind: "${kind}") sharedValue(kind: "${kind}") __typename }`;
    const data = { value: null, sharedValue: null, __typename: 'Query' };
    // The second one would be compiled, or shared.
    for (let times = 0; times < 3; times += 1) {
      const answer = await query(document);
      expect(answer.data).toEqual(data);
      expect(answer.errors).toHaveLength(2);
      for (const path of [['value'], ['sharedValue']]) {
        expect(answer.errors).toContainEqual(
          expect.objectContaining({
            path,
            extensions: expect.objectContaining({ code: 'INTERNAL' }),
          }),
        );
      }
    }
    const events = await fetch(`${facade.url}/graphql?query=${encodeURIComponent(document)}`, {
      headers: { accept: 'text/event-stream' },
    });
    expect(await events.text()).toContain('"value":null');
    socket.subscribe(kind, document);
    expect((await socket.until(kind, 'next')).payload.data).toEqual(data);
  }
});

test('a fault is logged once a minute for its field, by whose it is, though it has each key of a list', async () => {
  for (let times = 0; times < 2; times += 1) {
    await query('{ a: picked(key: "bad") b: picked(key: "bad") }');
  }
  await query('{ notValued }');
  await eventually(() => facade.logged.some((line) => line.includes('Float cannot represent')));
  const lines = facade.logged.filter((line) => line.includes('of this key alone'));
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      msg: 'a fault of an extension',
      extension: 'faulty-graph',
      field: expect.stringMatching(/^[ab]$/),
    }),
  ]);
});

test('what is thrown without a line of its file, or refused by the kit, is its extension’s fault as well', async () => {
  await query('{ positions { note(kind: "text") } value(kind: "bigint") notValued unkeyed }', {
    token: tokenOf(),
  });
  await query('mutation { sentAs(kind: "nothing") }', { token: tokenOf() });
  for (const why of [
    "no error was thrown, but 'no note'",
    'JSON value with a BigInt',
    'Float cannot represent non numeric value',
    'a body is nothing in JSON',
    'a key of news.all must be a string (it is undefined)',
  ]) {
    const told = () => facade.logged.filter((line) => line.includes(why));
    await eventually(() => told().length > 0);
    for (const line of told())
      expect(JSON.parse(line)).toMatchObject({ extension: 'faulty-graph' });
  }
});

const MISFITS = [
  ...['required', 'exposed', 'choice', 'side', 'amount', 'later', 'quick', 'moment', 'cents'],
  ...['some', 'items', 'words', 'failed', 'hook { now }', 'either { ... on Box { owner } }'],
];

test.each(MISFITS)(
  'a value that its type does not allow is its extension’s fault, and counts as its field’s: %s',
  async (selected) => {
    const [field] = selected.split(' ');
    const series = `errors_total{code="INTERNAL",operation="faulty-graph.${field}"}`;
    // The third answer to a document is that of compiled code.
    for (let times = 0; times < 3; times += 1) {
      await moved(facade, series, 1, async () => {
        const { errors } = await query(`{ misfit { ${selected} } }`);
        expect(errors).toMatchObject([{ extensions: { code: 'INTERNAL' } }]);
        expect(errors[0]?.extensions).not.toHaveProperty('operation');
      });
    }
    const lines = () => facade.logged.filter((line) => line.includes(`"misfit.${field}"`));
    await eventually(() => lines().length > 0);
    for (const line of lines())
      expect(JSON.parse(line)).toMatchObject({
        msg: 'a fault of an extension',
        extension: 'faulty-graph',
      });
  },
);

test('a list that never ends is said to have too many items, which the log does not redact', async () => {
  expect((await query('{ unending }')).data).toEqual({ unending: null });
  await eventually(() => facade.logged.some((line) => line.includes('more than 100,000 items')));
});

test('a field that does not settle is null at its deadline, a shared one is asked again, and its signal aborts', async () => {
  const late = (operation: string) => ({ code: 'GATEWAY_TIMEOUT', operation, retryable: true });
  for (let times = 0; times < 2; times += 1) {
    const { data, errors } = await query('{ never neverItem aborted sharedNever __typename }');
    expect(data).toMatchObject({ never: null, aborted: null, sharedNever: null });
    expect(data.__typename).toBe('Query');
    const codes = errors.map(({ extensions }) => extensions);
    for (const name of ['never', 'aborted', 'sharedNever', 'neverItem']) {
      expect(codes).toContainEqual(expect.objectContaining(late(`faulty-graph.${name}`)));
    }
  }
  const series = 'errors_total{code="GATEWAY_TIMEOUT",operation="faulty-graph.never"}';
  expect(await seriesValue(facade, series)).toBe(2);
  // Nobody knows what a write has done by then.
  const { errors } = await query('mutation { neverWritten }', { token: tokenOf() });
  expect(errors).toMatchObject([
    { path: ['neverWritten'], extensions: { code: 'OUTCOME_UNKNOWN' } },
  ]);
});

test('nothing that is selected below the outcome of an order takes the outcome away', async () => {
  const token = tokenOf('fresh@example.com');
  const kinds = [...VALUES, ...FAILURES];
  for (const [at, kind] of kinds.entries()) {
    const selected = `... on OrderAccepted { orderId positions { id note(kind: "${kind}") } }`;
    const { data, errors } = await query(buying(`contained-${at}`, selected), { token });
    expect(data.placeOrder.orderId).toEqual(expect.any(String));
    expect(data.placeOrder.positions).toHaveLength(at + 1);
    const code = kind.startsWith('never') ? 'GATEWAY_TIMEOUT' : 'INTERNAL';
    expect(errors).toHaveLength(at + 1);
    for (const index of errors.keys()) {
      const path = ['placeOrder', 'positions', index, 'note'];
      const extensions = expect.objectContaining({ code });
      expect(errors).toContainEqual(expect.objectContaining({ path, extensions }));
    }
  }
});

test('an outcome waits no longer for what is nested, or shared, than for one field', async () => {
  const token = tokenOf('pro@example.com');
  const nested = 'slow { more { more { more { more { now } } } } }';
  const selected = `... on OrderAccepted { orderId positions { ${nested} instrument { sharedSlow } } }`;
  const { data, errors } = await query(buying('nested', selected), { token });
  expect(data.placeOrder.orderId).toEqual(expect.any(String));
  // Each takes 0.7 s, of the second that all have.
  for (const { slow, instrument } of data.placeOrder.positions) {
    expect(slow).toEqual({ more: null });
    expect(instrument).toEqual({ sharedSlow: null });
  }
  for (const { extensions } of errors) expect(extensions.code).toBe('GATEWAY_TIMEOUT');
  const later = `{ placedOrder(idempotencyKey: "nested") { ${selected} } }`;
  expect((await query(later, { token })).data.placedOrder).toMatchObject({
    orderId: data.placeOrder.orderId,
    positions: expect.arrayContaining([{ slow: { more: null }, instrument: { sharedSlow: null } }]),
  });
});

test.each([
  ['was done', { status: 200, body: {} }, 'OUTCOME_UNKNOWN', 'faulty-graph.sentAndRead'],
  ['may have been done', 'reset', 'OUTCOME_UNKNOWN', 'faulty-graph.sentAndRead'],
  ['was refused', { status: 409, body: {} }, 'GATEWAY_UNAVAILABLE', 'news.all'],
] as const)(
  'a write that %s is not said to be unsent by a read that fails meanwhile',
  async (_what, reply, code, operation) => {
    const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
    service.answer = async ({ method }) => {
      if (method === 'GET') {
        read();
        return { status: 500, body: {} };
      }
      await isRead;
      return reply;
    };
    const { data, errors } = await query('mutation { sentAndRead }', { token: tokenOf() });
    expect(data).toEqual({ sentAndRead: null });
    const extensions = { code, operation, retryable: code === 'GATEWAY_UNAVAILABLE' };
    expect(errors).toMatchObject([{ path: ['sentAndRead'], extensions }]);
  },
);

test('what the contract hands out cannot be changed', async () => {
  const token = tokenOf();
  const { data } = await query('{ positions { symbol } }', { token });
  const spoilt = await query('{ emptied positions { changed } }', { token });
  expect(spoilt.errors.length).toBe(1 + data.positions.length);
  expect((await query('{ positions { symbol } }', { token })).data).toEqual(data);
});

test('arguments that code changes, and a value that all share, tell nobody of another row or account', async () => {
  const accounts = ['demo@example.com', 'pro@example.com'].map((email) => tokenOf(email));
  // The third answer to a document is that of compiled code.
  for (const token of [...accounts, ...accounts]) {
    const { data } = await query('{ positions { id named } customerId }', { token });
    expect(data.positions.length).toBeGreaterThan(1);
    for (const { id, named } of data.positions) expect(named).toBe(id);
  }
  const lists = await Promise.all(accounts.map((token) => query('{ names }', { token })));
  expect(lists.map(({ data }) => data.names)).toEqual([['700001'], ['700002']]);
  for (const token of accounts) {
    const { data, errors } = await query('{ shelf { owner } }', { token });
    expect([data, errors.length]).toEqual([{ shelf: [{ owner: null }] }, 1]);
  }
});

test('the rows of a request have one copy of a long list, whose size would count for each', async () => {
  const token = tokenOf();
  for (const copies of [1, 2, 3]) {
    const { data } = await query('query ($of: [String!]!) { positions { lists(of: $of) } }', {
      token,
      variables: { of: ['a', 'b'] },
    });
    expect(data.positions.length).toBeGreaterThan(1);
    for (const { lists } of data.positions) expect(lists).toBe(copies);
  }
});

test('a shared value is what its author made, however deep, and what its getters forget ends nothing', async () => {
  const before = await counted('rejection');
  const linked = { label: 'a b', next: { label: 'a b' } };
  const answer = await query('{ linked { label next { label } } }');
  expect(answer).toMatchObject({ data: { linked }, errors: [] });
  await eventually(async () => (await counted('rejection')) > before);
});

test('the type of a value is asked with the context of a resolver', async () => {
  const document = '{ kept { ... on Box { owner } } }';
  const { data } = await query(document, { token: tokenOf() });
  expect(data).toEqual({ kept: { owner: 'the viewer' } });
  const { errors } = await query(document);
  expect(errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
});

test('an error that was made for another field is one of the field that throws it', async () => {
  const { errors } = await query('{ positions { note(kind: "elsewhere") } }', { token: tokenOf() });
  expect(errors[0]).toMatchObject({
    message: 'no note',
    path: ['positions', 0, 'note'],
    extensions: { code: 'ELSEWHERE' },
  });
});

test('a `then` that is no function is a value like any other', async () => {
  expect(JSON.stringify((await query('{ thenable }')).data)).toBe(
    '{"thenable":{"then":"no function"}}',
  );
});

test('whatever the code of an extension forgets ends nothing, and bystanders notice nothing', async () => {
  service.answer = ({ path }) => (path === '/news' ? 'reset' : { status: 200, body: 'fine' });
  const faults = ['awaitedLate', 'forgotten', 'rejected', 'timer', 'handler'];
  const documents = [
    ...faults.map((name) => `{ ${name} }`),
    ...VALUES.map((kind) => `{ value(kind: "${kind}") }`),
    '{ never sharedNever aborted }',
  ];
  const before = { rejection: await counted('rejection'), exception: await counted('exception') };
  const token = tokenOf('pro@example.com');
  const times = 200;
  const bystanders: unknown[] = [];
  // Four thousand connections at once would be more than some machines accept.
  for (let sent = 0; sent < times; sent += 10) {
    const faulty = Array(10)
      .fill(documents)
      .flat()
      .map((document) => query(document));
    bystanders.push(await query('{ session { id } positions { id } }', { token }));
    await Promise.all(faulty);
  }
  expect(bystanders).toHaveLength(times / 10);
  for (const answer of bystanders) expect(answer).toMatchObject({ errors: [] });
  await eventually(async () => {
    expect((await counted('rejection')) - before.rejection).toBe(times);
    expect((await counted('exception')) - before.exception).toBe(2 * times);
  });
  const lines = facade.logged.filter((line) => line.includes('uncaught error of an extension'));
  // One of a kind in a minute, of which a busy machine needs several.
  expect(lines.length).toBeGreaterThanOrEqual(2);
  expect(lines.length).toBeLessThan(20);
  for (const line of lines) {
    expect(JSON.parse(line)).toMatchObject({ level: 'error', extension: 'faulty-graph' });
    expect(line).toContain('faulty-graph.ts:');
  }
  expect((await query('{ __typename }')).data).toEqual({ __typename: 'Query' });
  expect(sandbox.calls('openPosition')).toBeGreaterThan(0);
});

test.each([
  ['{ iterated }', { iterated: ['a'] }],
  ['{ misfit { fitting } }', { misfit: { fitting: ['a'] } }],
  ['{ written }', { written: 'written' }],
  ['{ writtenItems }', { writtenItems: ['written'] }],
  ['{ valued }', { valued: 1.5 }],
  ['{ valuedItems }', { valuedItems: ['written', 'a'] }],
  ['{ notValued }', { notValued: null }],
  ['{ parsed(value: 1) }', { parsed: 'fine' }],
  ['{ picked(key: "a") }', { picked: 'a' }],
  ['{ asked }', { asked: 'fine' }],
  ['mutation { sent }', { sent: 'fine' }],
])('what runs while a value is read, written or sent ends nothing: %s', async (document, data) => {
  const before = await counted('rejection');
  expect((await query(document, { token: tokenOf() })).data).toEqual(data);
  await eventually(async () => expect((await counted('rejection')) - before).toBeGreaterThan(0));
  expect((await query('{ __typename }')).data).toEqual({ __typename: 'Query' });
});

test('an extension that would end the process fails instead, in a timer too', async () => {
  const before = await counted('exception');
  const { data, errors } = await query('{ exits }');
  expect([data, errors.length]).toEqual([{ exits: null }, 1]);
  await eventually(async () => expect((await counted('exception')) - before).toBe(1));
  expect((await query('{ __typename }')).data).toEqual({ __typename: 'Query' });
});

test('a key that cannot be picked fails alone, as does a write below another', async () => {
  const { data, errors } = await query('{ picked(key: "a") bad: picked(key: "bad") }');
  expect([data, errors.map(({ path }) => path)]).toEqual([{ picked: 'a', bad: null }, [['bad']]]);
  const written = await query('mutation { sent lost }', { token: tokenOf() });
  expect(written.data).toEqual({ sent: 'fine', lost: null });
  expect(written.errors).toMatchObject([{ path: ['lost'], extensions: { code: 'INTERNAL' } }]);
});

test('a write has the key and the body of its request, whatever holds them, and is not sent without', async () => {
  const sentAs = (kind: string) =>
    query(`mutation { sentAs(kind: "${kind}") }`, { token: tokenOf() });
  for (const [kind, key, body] of [
    ['instance', 'of a class', '{"amount":0.10000000000000000001}'],
    ['inherited', 'inherited', '{"a":1}'],
  ] as const) {
    service.received.length = 0;
    expect((await sentAs(kind)).errors).toEqual([]);
    expect(service.received).toMatchObject([{ headers: { 'idempotency-key': key }, body }]);
  }
  service.received.length = 0;
  for (const kind of ['symbol', 'filter', 'nothing']) {
    expect((await sentAs(kind)).errors).toMatchObject([{ extensions: { code: 'INTERNAL' } }]);
  }
  expect(service.received).toEqual([]);
});

test('a scalar that is parsed later refuses its argument, and ends nothing', async () => {
  for (const document of ['{ late(value: 1) }', 'query ($v: Late) { late(value: $v) }']) {
    const { data, errors } = await query(document, { variables: { v: 1 } });
    expect([data ?? null, errors.length]).toEqual([null, 1]);
  }
  expect((await query('{ __typename }')).data).toEqual({ __typename: 'Query' });
});

test('an iterator that is shared has its items for everybody, and a list in itself ends', async () => {
  for (let times = 0; times < 2; times += 1) {
    expect((await query('{ sharedIterator }')).data).toEqual({ sharedIterator: ['a'] });
  }
  expect((await query('{ endless }')).data).toHaveProperty('endless');
});

test('what is shared is another value for an argument that JSON writes alike', async () => {
  const { data } = await query('{ region(of: EU) us: region(of: US) }');
  expect(data).toEqual({ region: 'Symbol(of Europe)', us: 'Symbol(of America)' });
});

test('a promise that a leaving client rejects, and an event of ours that a file beside handles, end nothing', async () => {
  const before = { rejection: await counted('rejection'), exception: await counted('exception') };
  using socket = await openSocket(facade);
  socket.say({ type: 'connection_init' });
  socket.subscribe('left', '{ left }');
  socket.subscribe('after', '{ helper }');
  await socket.until('after', 'next');
  socket.say({ id: 'left', type: 'complete' });
  await query('{ __typename }');
  await eventually(async () => {
    expect((await counted('rejection')) - before.rejection).toBe(1);
    expect((await counted('exception')) - before.exception).toBe(1);
  });
});
