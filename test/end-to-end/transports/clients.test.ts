import { beforeAll, describe, expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { CLIENT_REQUESTS, type ClientRequest } from '../../support/client-requests.ts';
import { generalPathCount } from '../../support/general-path-count.ts';
import { rawPost, rawResponse } from '../../support/raw-request.ts';
import { readUntil } from '../../support/read-until.ts';
import { sharedApp } from '../../support/shared-app.ts';

const EVENTS = 'text/event-stream';
const WATCH = 'subscription { positions { id } }';
const POST = { method: 'POST', contentType: 'application/json' } as const;

type Headed = Pick<ClientRequest, 'method' | 'accept' | 'contentType'>;

describe.each([
  ['by the direct path', true],
  ['by yoga', false],
])('clients as they are, %s', (_path, directPath) => {
  const app = sharedApp({}, { directPath });
  let token: string;
  beforeAll(() => {
    token = app.sandbox.token({ email: 'demo@example.com' });
  });

  /** Sends exactly the client's headers; a subscription is read up to its first event. */
  async function send(client: Headed, query: string) {
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
    const isEnough = (read: string) => query === WATCH && /data: |"payload":[\s\S]*\n--/.test(read);
    const text = await readUntil(response, isEnough);
    response.destroy();
    return { status: response.statusCode, type: response.headers['content-type'], text };
  }

  const named = CLIENT_REQUESTS.map(
    (client) =>
      [`${client.client} ${client.version}, ${client.method}, ${client.kind}`, client] as const,
  );

  test.each(named)('%s', async (_name, client) => {
    const before = await generalPathCount(app);
    const type = client.media === EVENTS ? EVENTS : `${client.media}; charset=utf-8`;
    const found = await send(client, client.kind === 'query' ? '{ customerId }' : WATCH);
    expect(found).toMatchObject({ status: 200, type });
    const data = client.kind === 'query' ? '{"customerId":"cus_700001"}' : '{"positions":[{"id":';
    expect(found.text).toContain(`"data":${data}`);
    const isResponse = client.media === 'application/graphql-response+json';
    for (const document of ['{ nope }', '{', 'query ($a: Int!) { session(maxAge: $a) { id } }']) {
      const refused = await send(client, document);
      // Of a refused subscription there is one result, of the type that a query has.
      expect(refused.status).toBe(isResponse || isBoth(client) ? 400 : 200);
      expect(refused.text).toContain('"errors":[{"message":');
    }
    expect((await generalPathCount(app)) - before).toBe(directPath ? 0 : 4);
  });

  function isBoth({ accept, kind }: ClientRequest): boolean {
    return kind === 'subscription' && (accept ?? '').includes('application/graphql-response+json');
  }

  test('a subscription by multipart has its events in parts, each with the boundary behind it', async () => {
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

  test('a subscription that its client cannot read is refused by name', async () => {
    const { status, text } = await send({ ...POST, accept: 'application/json' }, WATCH);
    expect(status).toBe(406);
    expect(JSON.parse(text).errors).toEqual([
      {
        message: expect.stringContaining('text/event-stream'),
        extensions: { code: 'NOT_ACCEPTABLE', retryable: false },
      },
    ]);
  });

  test('what allows none of the types is refused before anything is carried out', async () => {
    app.sandbox.clearCalls();
    const before = await generalPathCount(app);
    for (const accept of ['image/png', 'application/json;q=0, multipart/mixed', 'text/html']) {
      const document = 'mutation { setValue(input: { key: "k", value: 1 }) { __typename } }';
      const { status, text } = await send({ ...POST, accept }, document);
      expect(status).toBe(406);
      expect(JSON.parse(text).errors[0].extensions.code).toBe('NOT_ACCEPTABLE');
    }
    expect(app.sandbox.calls()).toBe(0);
    expect(await generalPathCount(app)).toBe(before);
  });
});

test('other methods and malformed query strings are counted, and malformed bodies need no yoga', async () => {
  await using app = await startTestApp({}, { directPath: true });
  const post = (body: string) => rawPost(`${app.url}/graphql`, body);
  const answers = await Promise.all([
    fetch(`${app.url}/graphql?query={__typename}`, { method: 'PUT' }),
    fetch(`${app.url}/graphql?query={__typename}&variables={`),
    post('{'),
    post('[]'),
    post('null'),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([405, 400, 400, 400, 400]);
  expect(await generalPathCount(app)).toBe(2);
});
