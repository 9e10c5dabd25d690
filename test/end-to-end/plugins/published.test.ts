import { useDisableIntrospection } from '@envelop/disable-introspection';
import { defaultProtectAllValidateFn, useGenericAuth } from '@envelop/generic-auth';
import { useCSRFPrevention } from '@graphql-yoga/plugin-csrf-prevention';
import {
  createInlineSigningKeyProvider,
  extractFromHeader,
  useJWT,
} from '@graphql-yoga/plugin-jwt';
import { describe, expect, test } from 'vitest';
import type { GivenPlugin } from '../../../engine/plugins/open-plugins.ts';
import { startSandbox } from '../../../sandbox/start.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { type Sent, send, TRANSPORTS } from '../../support/four-transports.ts';

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
async function answered(app: TestApp, query: string, token?: string): Promise<number> {
  let count = 0;
  for (const transport of TRANSPORTS) {
    for (let time = 0; time < EACH; time += 1) {
      const { data } = await send(app, transport, query, token === undefined ? {} : { token });
      if (data?.customerId || data?.__schema || data?.__typename) count += 1;
    }
  }
  return count;
}

/** What an operation is refused with on each transport: the status over HTTP, and the code. */
async function refusals(app: TestApp, query: string) {
  const sent = await Promise.all(TRANSPORTS.map((transport) => send(app, transport, query)));
  return sent.map(({ status, errors }: Sent) => [status, errors[0]?.extensions.code]);
}

/** The same on all of them; a socket has no status. */
const onEach = (status: number, code: string) =>
  TRANSPORTS.map((transport) => [transport === 'WebSocket' ? null : status, code]);

describe('of envelop', () => {
  test('generic-auth lets those in whom it knows', async () => {
    const users = new Set<string | null>();
    const plugin = useGenericAuth({
      mode: 'protect-all',
      resolveUserFn: ({ caller }: Seen) => (users.has(caller.token) ? { id: 1 } : null),
      validateUser: (params) =>
        params.parentType.name === 'Query' ? defaultProtectAllValidateFn(params) : undefined,
    });
    await using app = await startTestApp({}, { plugins: [plugin] });
    const token = await app.signIn();
    expect(await refusals(app, ASKED)).toEqual(onEach(401, 'UNAUTHORIZED_FIELD_OR_TYPE'));
    expect(await answered(app, ASKED, token)).toBe(0);
    users.add(token);
    expect(await answered(app, ASKED, token)).toBe(SENT);
  });

  test('disable-introspection refuses introspection alone', async () => {
    const plugin = useDisableIntrospection();
    await using app = await startTestApp({ INTROSPECTION: 'on' }, { plugins: [plugin] });
    const introspection = '{ __schema { queryType { name } } }';
    expect(await answered(app, introspection)).toBe(0);
    expect(await answered(app, '{ __typename }')).toBe(SENT);
    const refusal = onEach(200, 'GRAPHQL_VALIDATION_FAILED');
    expect(await refusals(app, introspection)).toEqual(refusal);
  });
});

describe('of yoga', () => {
  test('csrf-prevention wants its header, and guards no WebSocket', async () => {
    const plugins: GivenPlugin[] = [{ plugin: useCSRFPrevention(), httpOnly: true }];
    await expect(startTestApp({}, { plugins: [useCSRFPrevention()] })).rejects.toThrow(
      'onRequestParse',
    );
    await using app = await startTestApp({}, { plugins });
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
    const plugins: GivenPlugin[] = [
      {
        httpOnly: true,
        plugin: useJWT({
          signingKeyProviders: [createInlineSigningKeyProvider(secret)],
          tokenLookupLocations: [
            (given) =>
              given.request &&
              extractFromHeader({ name: 'authorization', prefix: 'Bearer' })(given),
            ({ serverContext }) => {
              const { caller } = serverContext as unknown as Seen;
              return caller?.token ? { token: caller.token } : undefined;
            },
          ],
          reject: { missingToken: false },
        }),
      },
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
});
