import type { Plugin } from '@envelop/core';
import { useDisableIntrospection } from '@envelop/disable-introspection';
import { defaultProtectAllValidateFn, useGenericAuth } from '@envelop/generic-auth';
import { useCSRFPrevention } from '@graphql-yoga/plugin-csrf-prevention';
import {
  createInlineSigningKeyProvider,
  extractFromHeader,
  useJWT,
} from '@graphql-yoga/plugin-jwt';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { OtherPlugin } from '../../../engine/index.ts';
import { examplePlugins } from '../../../examples/plugins/plugins.ts';
import { startSandbox } from '../../../sandbox/start.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { type Sent, send, TRANSPORTS } from '../../support/four-transports.ts';
import { assertNoLeak } from '../../support/leaks.ts';
import { initializedSocket } from '../live/raw-socket.ts';

const EACH = 3;
const SENT = EACH * TRANSPORTS.length;
const ASKED = 'query Asked { customerId }';

interface Seen {
  readonly caller: { readonly token: string | null };
}

interface Verified {
  readonly args: { readonly contextValue: { readonly jwt?: { payload: { login: number } } } };
}

/** Sends an operation several times on each transport, and counts those that are answered. */
async function answered(app: TestApp, query: string, token: string): Promise<number> {
  let count = 0;
  for (const transport of TRANSPORTS) {
    for (let time = 0; time < EACH; time += 1) {
      const { data } = await send(app, transport, query, { token });
      if (data?.customerId || data?.__typename) count += 1;
    }
  }
  return count;
}

/** What an operation is refused with on each transport: the status over HTTP, and the code. */
async function refusals(app: TestApp, query: string) {
  const sent = await Promise.all(TRANSPORTS.map((transport) => send(app, transport, query)));
  return sent.map(({ status, errors }: Sent) => [status, errors[0]?.extensions.code]);
}

test('generic-auth lets those in whom it knows, beside disable-introspection, which refuses introspection alone', async () => {
  const users = new Set<string | null>();
  const plugin = useGenericAuth({
    mode: 'protect-all',
    resolveUserFn: ({ caller }: Seen) => (users.has(caller.token) ? { id: 1 } : null),
    validateUser: (params) =>
      params.parentType.name === 'Query' ? defaultProtectAllValidateFn(params) : undefined,
  });
  const plugins = [plugin, useDisableIntrospection()];
  await using app = await startTestApp({ INTROSPECTION: 'on' }, { plugins });
  const token = await app.signIn();
  const code = 'UNAUTHORIZED_FIELD_OR_TYPE';
  expect(await refusals(app, ASKED)).toEqual([401, 401, 401, null].map((each) => [each, code]));
  expect(await answered(app, ASKED, token)).toBe(0);
  users.add(token);
  expect(await answered(app, ASKED, token)).toBe(SENT);
  const introspected = await refusals(app, '{ __schema { queryType { name } } }');
  expect(introspected.map(([, refused]) => refused)).toEqual(
    TRANSPORTS.map(() => 'GRAPHQL_VALIDATION_FAILED'),
  );
});

test('csrf-prevention wants its header, and guards no WebSocket', async () => {
  await using app = await startTestApp({}, { plugins: [useCSRFPrevention()] });
  const refused = [403, 'GRAPHQL_PARSE_FAILED'];
  const passed = [200, undefined];
  // The other two send JSON, which is preflighted.
  const each = [passed, refused, passed, [null, undefined]];
  expect(await refusals(app, '{ __typename }')).toEqual(each);
  const headers = { 'x-graphql-yoga-csrf': '1' };
  expect((await send(app, 'GET', '{ __typename }', { headers })).status).toBe(200);
});

test('jwt verifies each token, and those of WebSockets where it is told where they are', async () => {
  const secret = 'a secret of the sandbox, of more than 32 bytes';
  await using gateway = await startSandbox({ secret, tickMs: 0, instruments: 10 });
  const seen: unknown[] = [];
  const plugins: OtherPlugin[] = [
    useJWT({
      signingKeyProviders: [createInlineSigningKeyProvider(secret)],
      tokenLookupLocations: [
        (given) =>
          given.request && extractFromHeader({ name: 'authorization', prefix: 'Bearer' })(given),
        ({ serverContext }) => {
          const { caller } = serverContext as unknown as Seen;
          return caller?.token ? { token: caller.token } : undefined;
        },
      ],
      reject: { missingToken: false },
    }),
    { onExecute: ({ args }: Verified) => void seen.push(args.contextValue.jwt?.payload.login) },
  ];
  await using app = await startTestApp({}, { plugins, gateway });
  const token = await app.signIn();
  seen.length = 0;
  expect(await answered(app, ASKED, token)).toBe(SENT);
  expect(seen).toEqual(new Array(SENT).fill(expect.any(Number)));
  const forged = `${token.slice(0, -4)}AAAA`;
  expect(await answered(app, '{ __typename }', forged)).toBe(0);
});

interface Span {
  readonly name: string;
  readonly attributes: object;
  readonly status: { readonly code: number };
  readonly events: readonly unknown[];
}

const FAILED = 2;
const LIVE = 'subscription Live { positionChanges { cursor } }';

test('the example’s plugins see operations on every transport', async () => {
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
  await using app = await startTestApp({ POSITIONS_POLL_MS: '200' }, { plugins });
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
  await eventually(() => expect(spans.length).toBeGreaterThanOrEqual(expected.length));
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
});

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
