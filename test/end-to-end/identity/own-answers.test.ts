import { beforeAll, describe, expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import type { Context } from '../../../src/schema/context.ts';
import { extendedSchema, KINDS, type ReadAdded, selected } from '../../support/extended-schema.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { startedOnce } from '../../support/started.ts';
import { withClaims } from '../../support/tokens.ts';
import { codesOf, STREAMED_TRANSPORTS } from '../limits/every-transport.ts';

/** A value that differs for each user. */
const tokenEnd = ({ scope }: Context) => scope.caller.token?.text.slice(-12);
const PERSONAL: Readonly<Record<string, ReadAdded>> = {
  own: tokenEnd,
  async ownLater(context) {
    await context.scope.viewer();
    return tokenEnd(context);
  },
};

const schema = extendedSchema(['Instrument'], PERSONAL);

const gateway = startedOnce(() => startSandbox({ seed: 'tests', tickMs: 0, instruments: 40 }));
const app = sharedApp({}, { schema, gateway });
let users: readonly [string, string];

beforeAll(async () => {
  const signIn = (email: string) => app.signIn(email);
  users = [await signIn('user-1@example.com'), await signIn('user-2@example.com')];
});

interface Operation {
  readonly query: string;
  readonly operationName?: string;
  readonly variables?: object;
}

async function get(
  token: string,
  { variables = {}, ...texts }: Operation,
  method: 'GET' | 'POST' = 'GET',
) {
  const search = new URLSearchParams({ ...texts, variables: JSON.stringify(variables) });
  const response = await fetch(`${app.url}/graphql${method === 'GET' ? `?${search}` : ''}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json',
      'content-type': 'application/json',
    },
    ...(method === 'POST' && { body: JSON.stringify({ ...texts, variables }) }),
  });
  return response.json();
}

/** Returns the tokens of all users whose values an answer contains. */
function tokensIn({ data, errors }: { data: unknown; errors?: unknown }): string[] {
  expect(errors).toBeUndefined();
  const shown = JSON.stringify(data);
  return users.filter((token) => shown.includes(token.slice(-12)));
}

const DOCUMENTS = [
  (field: string) => `{ instrument(id: "AAPL") { id ${field} } }`,
  (field: string) => `{ catalog { instruments { id ${field} } } }`,
];

test.each(Object.keys(PERSONAL))('each user gets their own values: %s', async (name) => {
  for (const documentOf of DOCUMENTS) {
    for (const kind of KINDS) {
      const query = documentOf(selected(name, kind));
      for (const token of [...users, ...users]) {
        expect(tokensIn(await get(token, { query }))).toEqual([token]);
        for (const [, ask] of STREAMED_TRANSPORTS) {
          const { data, errors } = await ask(app, { query }, token);
          expect(tokensIn({ data, errors })).toEqual([token]);
        }
      }
    }
  }
});

describe.each(['GET', 'POST'] as const)('the catalog in memory, requested by %s,', (method) => {
  const query = `query First($n: Int = 2) { instruments(first: $n) { nodes { id access } } catalog { group } }
    query Second($n: Int = 2) { instruments(last: $n) { nodes { id access } } catalog { group } }`;
  const ask = (from: string, variables: object = {}, operationName = 'First') =>
    get(from, { query, operationName, variables }, method);
  let token: string;
  beforeAll(async () => {
    token = await app.signIn();
    for (let i = 0; i < 2; i += 1) await ask(token);
  });

  test('is not read for a token that is unproved or revoked', async () => {
    const forged = withClaims(token, { exp: 9_999_999_999 });
    const refused = await ask(forged);
    const revoked = await app.signIn();
    expect((await ask(revoked)).data.instruments.nodes).toHaveLength(2);
    gateway.revoke({ token: revoked });
    // The next call of the gateway reveals the revocation.
    await app.query('{ customerId }', { token: revoked });
    for (const body of [refused, await ask(revoked)]) {
      expect(body.data).toEqual({ instruments: null, catalog: null });
      expect(codesOf(body)).toContain('UNAUTHENTICATED');
    }
  });

  test('is not read for another group’s token, even if it claims the group', async () => {
    const pro = gateway.token({ email: 'pro@example.com' });
    const claiming = gateway.token({ email: 'pro@example.com', group: 'standard-usd' });
    for (const foreignToken of [pro, claiming]) {
      const { data, errors } = await ask(foreignToken);
      expect(data.catalog?.group ?? null).not.toBe('standard-usd');
      if (data.catalog === null) expect(errors[0].extensions.code).toBe('FORBIDDEN');
    }
  });

  test('answers each operation and each value of a variable', async () => {
    const first = await ask(token);
    expect((await ask(token, {}, 'Second')).data.instruments).not.toEqual(first.data.instruments);
    for (const n of [0, 1, 3]) {
      expect((await ask(token, { n })).data.instruments.nodes).toHaveLength(n);
    }
    expect(codesOf(await ask(token, { n: '2' }))).toEqual(['BAD_USER_INPUT']);
    expect(await ask(token, { n: 2, unknown: 'x'.repeat(1_000) })).toEqual(first);
  });
});
