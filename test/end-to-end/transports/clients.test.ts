import { serverAudits } from 'graphql-http';
import { beforeAll, describe, expect, test } from 'vitest';
import { CLIENT_REQUESTS, type ClientRequest } from '../../support/client-requests.ts';
import { eventually } from '../../support/eventually.ts';
import { rawPost, rawResponse } from '../../support/raw-request.ts';
import { readUntil } from '../../support/read-until.ts';
import { sharedApp } from '../../support/shared-app.ts';

const EVENTS = 'text/event-stream';
const WATCH = 'subscription { positions { id } }';
const POST = { method: 'POST', contentType: 'application/json' } as const;

type RequestHeaders = Pick<ClientRequest, 'method' | 'accept' | 'contentType'>;

describe('real clients', () => {
  const app = sharedApp({}, { connections: { pingMs: 50 } });
  let token: string;
  beforeAll(() => {
    token = app.sandbox.token({ email: 'demo@example.com' });
  });

  /** Sends exactly the client's headers; a subscription is read up to its first event. */
  async function send(client: RequestHeaders, query: string) {
    const { method, accept, contentType } = client;
    const body = method === 'POST' ? JSON.stringify({ query, variables: {} }) : undefined;
    const search = method === 'GET' ? `?${new URLSearchParams({ query, variables: '{}' })}` : '';
    const response = await rawResponse(`${app.url}/graphql${search}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(accept !== undefined && { accept }),
        ...(contentType !== undefined && { 'content-type': contentType }),
      },
      body,
    });
    // The first event of an event stream, or the first part of a multipart answer with the boundary after it.
    const firstEvent = /data: |"payload":[\s\S]*\n--/;
    const isEnough = (read: string) => query === WATCH && firstEvent.test(read);
    const text = await readUntil(response, isEnough);
    response.destroy();
    return { status: response.statusCode, type: response.headers['content-type'], text };
  }

  const namedClients = CLIENT_REQUESTS.map(
    (client) =>
      [`${client.client} ${client.version}, ${client.method}, ${client.kind}`, client] as const,
  );

  test.each(namedClients)('get the type that they accept: %s', async (_name, client) => {
    const type = client.media === EVENTS ? EVENTS : `${client.media}; charset=utf-8`;
    const isQuery = client.kind === 'query';
    const answer = await send(client, isQuery ? '{ customerId }' : WATCH);
    expect(answer).toMatchObject({ status: 200, type });
    const data = isQuery ? '{"customerId":"cus_700001"}' : '{"positions":[{"id":';
    expect(answer.text).toContain(`"data":${data}`);
    // A wrong document is refused with status 400 in GraphQL's media type, and with 200 in plain JSON or an event stream.
    const isGraphQLMedia = client.media === 'application/graphql-response+json';
    const refusedStatus = isGraphQLMedia || acceptsGraphQLResult(client) ? 400 : 200;
    // An unknown field, a syntax error, and a variable without a value.
    for (const document of ['{ nope }', '{', 'query ($a: Int!) { session(maxAge: $a) { id } }']) {
      const refused = await send(client, document);
      expect(refused.status).toBe(refusedStatus);
      expect(refused.text).toContain('"errors":[{"message":');
    }
  });

  /** Whether a client of subscriptions also accepts GraphQL's media type. The service then sends refusals in that type. */
  function acceptsGraphQLResult({ accept, kind }: ClientRequest): boolean {
    return kind === 'subscription' && (accept ?? '').includes('application/graphql-response+json');
  }

  test('a subscription by multipart sends each event as a part followed by the boundary', async () => {
    const kotlin = {
      ...POST,
      accept:
        'multipart/mixed;subscriptionSpec=1.0, application/graphql-response+json, application/json',
    } as const;
    const { status, type, text } = await send(kotlin, WATCH);
    expect({ status, type }).toEqual({
      status: 200,
      type: 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0',
    });
    const head = '\r\ncontent-type: application/json\r\n\r\n';
    const [before, ping, event] = text.split('\r\n--graphql');
    expect([before, ping]).toEqual(['', `${head}{}`]);
    expect(JSON.parse(event?.slice(head.length) ?? '')).toMatchObject({
      payload: { data: { positions: [{ id: '700001001' }, {}, {}, {}, {}, {}] } },
    });
  });

  test('a request whose Accept header has no usable type is refused with a list of the types, and not executed', async () => {
    app.sandbox.clearCalls();
    const write = 'mutation { setValue(input: { key: "k", value: 1 }) { __typename } }';
    const watchRefusal = { code: 'NOT_ACCEPTABLE', retryable: false };
    const writeRefusal = { ...watchRefusal, sent: false };
    for (const [accept, document, extensions] of [
      ['image/png', write, writeRefusal],
      ['application/json;q=0, multipart/mixed;deferSpec=20990101', write, writeRefusal],
      ['text/html', write, writeRefusal],
      ['application/json', WATCH, watchRefusal],
    ] as const) {
      const { status, text } = await send({ ...POST, accept }, document);
      expect(status).toBe(406);
      expect(JSON.parse(text).errors).toEqual([
        { message: expect.stringContaining('text/event-stream'), extensions },
      ]);
    }
    expect(app.sandbox.calls('setValue')).toBe(0);
  });

  const headersOf = (token: string | null) => ({
    accept: 'text/event-stream',
    'content-type': 'application/json',
    ...(token !== null && { authorization: `Bearer ${token}` }),
  });

  test('an event stream begins with a ping, sends pings while it is quiet, and ends with `complete`', async () => {
    const token = app.sandbox.token({ email: 'demo@example.com' });
    const response = await rawResponse(`${app.url}/graphql`, {
      method: 'POST',
      headers: headersOf(token),
      body: '{"query":"subscription { positions { id } }"}',
    });
    let text = '';
    response.on('data', (chunk) => {
      text += chunk;
    });
    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    await eventually(() => expect(text.split(':\n\n').length).toBeGreaterThan(4));
    app.sandbox.revoke({ token });
    await eventually(() => response.complete);
    const withoutPings = text.replaceAll(/^:\n\n/gm, '');
    // Splits after each `next` event.
    const [first, last, rest] = withoutPings.split(/(?<=^event: next\ndata: .*\n\n)/m);
    expect(text).toMatch(/^(:\n\n)+event: next\ndata: \{"data":\{"positions":\[\{"id":/);
    expect(first).toMatch(/^event: next\ndata: \{"data":.*\}\n\n$/);
    expect(last).toMatch(/^event: next\ndata: \{"errors":\[\{.*"code":"UNAUTHENTICATED".*\}\n\n$/);
    expect(rest).toBe('event: complete\ndata:\n\n');
  });

  test('an event stream of a query or a refusal has one event', async () => {
    const token = app.sandbox.token({ email: 'demo@example.com' });
    const ask = async (query: string, as: string | null = token) => {
      const body = JSON.stringify({ query });
      const answer = await rawPost(`${app.url}/graphql`, body, headersOf(as));
      expect(answer.status).toBe(200);
      expect(answer.headers).toMatchObject({
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
      });
      const json = /^event: next\ndata: (.*)\n\nevent: complete\ndata:\n\n$/.exec(answer.text)?.[1];
      // The figures of the gateway calls differ from run to run.
      return json?.replace(/"extensions":\{"gateway":.*?\}\}$/, '"extensions":{}}');
    };
    expect(await ask('{ __typename }')).toBe('{"data":{"__typename":"Query"},"extensions":{}}');
    expect(await ask('{ nope }')).toBe(
      '{"errors":[{"message":"Cannot query field \\"nope\\" on type \\"Query\\".","locations":[{"line":1,"column":3}],"extensions":{"code":"GRAPHQL_VALIDATION_FAILED","retryable":false}}]}',
    );
    expect(await ask('subscription { positions { id } }', null)).toContain('UNAUTHENTICATED');
  });

  // The public test suite for GraphQL over HTTP, with its optional audits.
  test.each(serverAudits({ url: () => `${app.url}/graphql` }))('$name ($id)', async (audit) => {
    expect(await audit.fn()).toMatchObject({ status: 'ok' });
  });
});
