import { createClient } from 'graphql-ws';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { startHeldGateway } from '../../support/held-gateway.ts';
import { startedOnce } from '../../support/started.ts';

const sandbox = startedOnce(() => startSandbox({ tickMs: 0 }));
const gateway = startedOnce(() => startHeldGateway(sandbox));
// Longer than a test waits, so that no held call ends by its time-out.
const GATEWAY_TIMEOUT_MS = '100000';
const app = startedOnce(() =>
  startTestApp({ GATEWAY_URL: gateway.url, GATEWAY_TIMEOUT_MS }, { gateway: sandbox }),
);
afterEach(() => gateway.release());

const PAYMENTS = ['getWithdrawalMethods', 'getCustomerId'] as const;
const SCREEN = `query Screen($now: Boolean = false, $later: Boolean = true) {
  session { id }
  ...Payout @defer(label: "payout", if: $later)
  ... @defer { positions { id } }
  ... @defer @skip(if: $now) { customerId }
}
fragment Payout on Query { withdrawalMethods { id } session { id balance } }`;
/** The two versions of the format of `@defer`, as the Accept header names them. */
const FORMATS = ['deferSpec=20220824', 'incrementalSpec=v0.2'] as const;

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever its own query asked for
type Message = any;

/** The parts of an answer, as they arrive. */
async function* partsOf(response: Response): AsyncGenerator<Message> {
  const boundary = /boundary="([^"]+)"/.exec(response.headers.get('content-type') ?? '')?.[1];
  // Without a boundary the answer is an event stream, whose events end with an empty line.
  const separator = boundary ? `\r\n--${boundary}` : '\n\n';
  let text = '';
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString();
    const pieces = text.split(separator);
    text = pieces.pop() ?? '';
    for (const piece of pieces) {
      const json = piece.slice(piece.indexOf('{'), piece.lastIndexOf('}') + 1);
      if (json !== '') yield JSON.parse(json);
    }
  }
}

function ask(accept: string, query = SCREEN, variables = {}, signal?: AbortSignal) {
  return fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept,
      authorization: `Bearer ${sandbox.token({ email: 'demo@example.com' })}`,
    },
    body: JSON.stringify({ query, variables }),
    ...(signal && { signal }),
  });
}

async function allParts(response: Response): Promise<Message[]> {
  const parts: Message[] = [];
  for await (const part of partsOf(response)) parts.push(part);
  return parts;
}

async function next(parts: AsyncGenerator<Message>): Promise<Message> {
  return (await parts.next()).value;
}

describe.each(FORMATS)('an answer in parts by %s', (spec) => {
  const accept = `multipart/mixed;${spec}, application/json;q=0.9`;

  test('sends each fragment when it is complete, without waiting for a slower fragment', async () => {
    gateway.hold(...PAYMENTS);
    sandbox.clearCalls();
    const response = await ask(accept);
    expect(response.headers.get('content-type')).toBe(`multipart/mixed;boundary="graphql";${spec}`);
    const parts = partsOf(response);
    const first = await next(parts);
    expect(first).toMatchObject({ data: { session: { id: '700001' } }, hasNext: true });
    const second = await next(parts);
    expect(second.incremental[0].data.positions.length).toBeGreaterThan(0);
    await eventually(() => expect(gateway.waiting).toBe(2));
    gateway.release();
    const rest = [await next(parts), await next(parts)];
    expect(await next(parts)).toBeUndefined();
    expect(rest.map(({ hasNext }) => hasNext)).toEqual([true, false]);
    // The two remaining parts can arrive in either order.
    const payout = rest.find(({ incremental: [{ data }] }) => 'withdrawalMethods' in data);
    const { data, ...position } = payout.incremental[0];
    const balance = expect.any(Number);
    if (spec === 'deferSpec=20220824') {
      expect(position).toEqual({ path: [], label: 'payout' });
      expect(data.session).toEqual({ id: '700001', balance });
    } else {
      // Fields of the first part are not repeated.
      expect(payout.incremental[1]).toEqual({ id: '0', subPath: ['session'], data: { balance } });
      expect(first.pending).toEqual([
        { id: '0', path: [], label: 'payout' },
        { id: '1', path: [] },
        { id: '2', path: [] },
      ]);
      expect(position).toEqual({ id: '0' });
      expect(payout.completed).toEqual([{ id: '0' }]);
    }
    // The session is read once for all parts.
    expect(sandbox.calls('getSession')).toBe(1);
  });

  test('can have a part for an object below the root', async () => {
    gateway.hold('getAllTickers');
    const query =
      '{ session { id ... @defer(label: "names") { orders { instrument { name } } } } }';
    const parts = partsOf(await ask(accept, query));
    expect((await next(parts)).data).toEqual({ session: { id: '700001' } });
    gateway.release();
    const { incremental, hasNext } = await next(parts);
    expect(incremental[0].data.orders[0].instrument.name).toEqual(expect.any(String));
    expect(hasNext).toBe(false);
  });

  test.each([
    ['directly', '{ positions { id ... @defer { symbol } } ...Later @defer }'],
    [
      'in fragments',
      `{ positions { id ...A } ...Later @defer } fragment A on Position { ...B }
      fragment B on Position { ... @defer { symbol } }`,
    ],
  ])('has no parts for items of a list that are deferred %s', async (_place, query) => {
    const later = 'fragment Later on Query { customerId }';
    const [first, ...others] = await allParts(await ask(accept, `${query} ${later}`));
    expect(first.data.positions[0]).toEqual({ id: expect.any(String), symbol: expect.any(String) });
    expect(others).toHaveLength(1);
    expect(others[0].incremental[0].data).toEqual({ customerId: 'cus_700001' });
  });

  test('has the errors of a fragment in its part', async () => {
    sandbox.fail({ operation: 'getCustomerId', kind: 'status', status: 503, times: 9 });
    const query = '{ session { id } ... @defer { customerId } }';
    const messages = await allParts(await ask(accept, query));
    sandbox.clearFaults();
    expect(messages).toHaveLength(2);
    const [first, second] = messages;
    expect(first).not.toHaveProperty('errors');
    expect(second.incremental[0]).toMatchObject({
      data: { customerId: null },
      errors: [{ path: ['customerId'], extensions: { code: 'GATEWAY_UNAVAILABLE' } }],
    });
  });

  test('is one piece if its variables or directives leave nothing to defer', async () => {
    const conditional = `query ($later: Boolean) { session { id } ... @defer(if: $later) { customerId } }`;
    const response = await ask(accept, conditional, { later: false });
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(Object.keys((await response.json()).data)).toHaveLength(2);
    const skipping = '{ session { id } ... @defer @skip(if: true) { customerId } }';
    const skipped = await ask(accept, skipping);
    expect((await skipped.json()).data).toEqual({ session: { id: '700001' } });
  });
});

test('a client that accepts only JSON or prefers JSON gets an answer in one piece', async () => {
  for (const accept of ['application/json', '*/*', 'application/json, multipart/mixed;q=0.5']) {
    const response = await ask(accept);
    expect(response.headers.get('content-type')).toContain('application/json');
    const { data } = await response.json();
    expect(Object.keys(data)).toEqual(['session', 'withdrawalMethods', 'positions', 'customerId']);
  }
  // A mutation is answered in one piece even if the client prefers parts.
  const mutation =
    'mutation { setValue(input: { key: "a", value: 1 }) { ... @defer { __typename } } }';
  const response = await ask('multipart/mixed;deferSpec=20220824, application/json', mutation);
  expect(response.headers.get('content-type')).toContain('application/json');
  expect(await response.json()).toMatchObject({
    data: { setValue: { __typename: 'Acknowledged' } },
  });
  const unknownVersion = await ask('multipart/mixed;deferSpec=20990101');
  expect(unknownVersion.status).toBe(406);
});

test('a client that accepts multipart without a version gets the version that most clients read', async () => {
  const plain = await ask('application/json, text/event-stream;q=0.1, multipart/mixed');
  expect(plain.headers.get('content-type')).toContain('deferSpec=20220824');
  await plain.body?.cancel();
  const onlyMultipart = await ask('multipart/mixed;deferSpec=20220824', '{ session { id } }');
  const text = await onlyMultipart.clone().text();
  expect(await allParts(onlyMultipart)).toMatchObject([{ data: { session: { id: '700001' } } }]);
  // The closing boundary tells a client that the answer is complete.
  expect(text).toMatch(/\r\n--graphql--\r\n$/);
});

test('an event stream contains each deferred field once', async () => {
  const [first, ...later] = await allParts(await ask('text/event-stream'));
  expect(first).toMatchObject({ data: { session: {} }, hasNext: true });
  // Parts that are ready at the same time are one event.
  expect(later.at(-1)).toMatchObject({ hasNext: false });
  const parts = later.flatMap(({ incremental }) => incremental);
  for (const part of parts) expect(part).toHaveProperty('path');
  const deferred = ['customerId', 'positions', 'withdrawalMethods'];
  const fields = parts.flatMap(({ data }) => Object.keys(data));
  expect(fields.filter((name) => deferred.includes(name)).sort()).toEqual(deferred);
});

test('a socket sends each part in a message of its own', async () => {
  const client = createClient({
    url: app.webSocketUrl,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${sandbox.token({ email: 'demo@example.com' })}` },
  });
  gateway.hold(...PAYMENTS);
  const parts = client
    .iterate({ query: SCREEN })
    [Symbol.asyncIterator]() as AsyncGenerator<Message>;
  expect(await next(parts)).toMatchObject({ data: { session: { id: '700001' } }, hasNext: true });
  expect((await next(parts)).incremental[0]).toHaveProperty('path');
  gateway.release();
  await next(parts);
  expect(await next(parts)).toMatchObject({ hasNext: false });
  expect((await parts.next()).done).toBe(true);
  await client.dispose();
});
