import { describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { rawPost, rawResponse } from '../../support/raw-request.ts';

const PING_MS = 50;

describe.each([
  ['by the direct path', true],
  ['by yoga', false],
])('an event stream, %s', (_path, directPath) => {
  const start = () => startTestApp({}, { directPath, connections: { pingMs: PING_MS } });

  async function watch(app: TestApp, token: string) {
    const response = await rawResponse(`${app.url}/graphql`, {
      method: 'POST',
      headers: {
        accept: 'text/event-stream',
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
      },
      body: '{"query":"subscription { positions { id } }"}',
    });
    let text = '';
    response.on('data', (chunk) => {
      text += chunk;
    });
    return { response, text: () => text };
  }

  test('begins with a ping, goes on with them while it is quiet, and says that it is complete', async () => {
    await using app = await start();
    const token = app.sandbox.token({ email: 'demo@example.com' });
    const { response, text } = await watch(app, token);
    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    await eventually(() => text().split(':\n\n').length > 4);
    app.sandbox.revoke({ token });
    await eventually(() => response.complete);
    const [first, last, rest] = text()
      .replaceAll(/^:\n\n/gm, '')
      .split(/(?<=^event: next\ndata: .*\n\n)/m);
    expect(text()).toMatch(/^(:\n\n)+event: next\ndata: \{"data":\{"positions":\[\{"id":/);
    expect(first).toMatch(/^event: next\ndata: \{"data":.*\}\n\n$/);
    expect(last).toMatch(/^event: next\ndata: \{"errors":\[\{.*"code":"UNAUTHENTICATED".*\}\n\n$/);
    expect(rest).toBe('event: complete\ndata:\n\n');
  });

  test('of a query, or of what is refused, is its only event', async () => {
    await using app = await start();
    const token = app.sandbox.token({ email: 'demo@example.com' });
    const ask = async (query: string, authorization: string | null = `Bearer ${token}`) => {
      const answer = await rawPost(`${app.url}/graphql`, JSON.stringify({ query }), {
        accept: 'text/event-stream',
        ...(authorization !== null && { authorization }),
      });
      const { status, headers, text } = answer;
      const body = text.replace(/"extensions":\{"gateway":.*?\}\}(?=\n)/, '"extensions":{}}');
      return { status, type: headers['content-type'], cache: headers['cache-control'], body };
    };
    const event = (json: string) => ({
      status: 200,
      type: 'text/event-stream',
      cache: 'no-store',
      body: `event: next\ndata: ${json}\n\nevent: complete\ndata:\n\n`,
    });
    expect(await ask('{ __typename }')).toEqual(
      event('{"data":{"__typename":"Query"},"extensions":{}}'),
    );
    // Made of the catalog alone, whose bytes are cached.
    const ofCatalog = '{ instrument(id: "AAPL") { id } }';
    for (let count = 0; count < 2; count += 1) {
      expect(await ask(ofCatalog)).toEqual(
        event('{"data":{"instrument":{"id":"AAPL"}},"extensions":{}}'),
      );
    }
    expect(await ask('{ nope }')).toEqual(
      event(
        '{"errors":[{"message":"Cannot query field \\"nope\\" on type \\"Query\\".","locations":[{"line":1,"column":3}],"extensions":{"code":"GRAPHQL_VALIDATION_FAILED","retryable":false}}]}',
      ),
    );
    const unnamed = await ask('subscription { positions { id } }', null);
    expect(unnamed).toMatchObject({ status: 200, type: 'text/event-stream' });
    expect(unnamed.body).toContain('"code":"UNAUTHENTICATED"');
    expect(unnamed.body).toMatch(/\}\n\nevent: complete\ndata:\n\n$/);
  });
});
