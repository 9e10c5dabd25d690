import type { Plugin } from '@envelop/core';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { examplePlugins } from '../../../examples/plugins/plugins.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { send } from '../../support/four-transports.ts';
import { assertNoLeak } from '../../support/leaks.ts';
import { initializedSocket } from '../live/raw-socket.ts';

interface Span {
  readonly name: string;
  readonly attributes: object;
  readonly status: { readonly code: number };
  readonly events: readonly unknown[];
}

const FAILED = 2;
const LIVE = 'subscription Live { positionChanges { cursor } }';

test.each([true, false])(
  'the example’s plugins see operations on every transport',
  async (directPath) => {
    const spans: Span[] = [];
    const metrics = new Registry();
    const exporter = {
      export(ended: readonly unknown[], done: (result: { code: number }) => void) {
        spans.push(...(ended as Span[]));
        done({ code: 0 });
      },
      async shutdown() {},
    };
    const plugins = examplePlugins({ spans: exporter, metrics });
    await using app = await startTestApp({ POSITIONS_POLL_MS: '200' }, { plugins, directPath });
    const token = await app.signIn();
    await app.query('query Posted { customerId }', { token });
    await send(app, 'GET', 'query Got { customerId }', { token });
    await app.query('query Failing { session(maxAge: -1) { balance } }', { token });
    expect((await send(app, 'event stream', LIVE, { token })).text).toContain('cursor');
    using socket = await initializedSocket(app, token);
    socket.subscribe('1', 'query OfSocket { customerId }');
    await socket.until('1', 'complete');
    socket.subscribe('2', LIVE);
    await socket.until('2', 'next');
    socket.say('{"id":"2","type":"complete"}');
    const expected = [
      'mutation.anonymous',
      'query.Failing',
      'query.Got',
      'query.OfSocket',
      'query.Posted',
      'subscription.Live',
      'subscription.Live',
    ];
    await eventually(() => spans.length >= expected.length);
    expect(spans.map(({ name }) => name).sort()).toEqual(expected);
    const failed = spans.filter(({ status }) => status.code === FAILED);
    expect(failed.map(({ name }) => name)).toEqual(['query.Failing']);
    expect(JSON.stringify(failed[0]?.events)).toContain('BAD_USER_INPUT');
    const counted = await metrics.metrics();
    expect(counted).toMatch(/graphql_envelop_request\{[^}]*operationType="subscription"[^}]*\} 2/);
    expect(counted).toMatch(/graphql_envelop_error_result\{[^}]*operationType="query"[^}]*\} 1/);
    expect(counted).toMatch(/execute_resolver_count\{[^}]*fieldName="customerId"[^}]*\} 3/);
    const written = spans.map((span) => JSON.stringify([span.name, span.attributes, span.events]));
    assertNoLeak('output of the plugins', [counted, ...written], app.sandbox.requests());
  },
);

test('a plugin sees the text of a document, the request over HTTP, and errors as clients get them', async () => {
  const seen: unknown[] = [];
  const plugin: Plugin = {
    onExecute: ({ args: { contextValue } }) => {
      const { request } = contextValue as { readonly request?: Request };
      seen.push(['x-mine', 'content-length'].map((name) => request?.headers.get(name)));
      return { onExecuteDone: ({ result }) => void seen.push(JSON.stringify(result)) };
    },
    onParse: ({ params }) => void seen.push(String(params.source)),
  };
  await using app = await startTestApp({}, { plugins: [plugin] });
  await app.query('{ customerId }', { headers: { 'x-mine': 'yes' } });
  expect(seen.slice(0, 2)).toEqual(['{ customerId }', ['yes', null]]);
  expect(seen[2]).toContain('UNAUTHENTICATED');
});
