import { beforeAll, describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../../src/gateway/operations.ts';
import { startSandbox } from '../../../src/sandbox/start.ts';
import type { Context } from '../../../src/schema/context.ts';
import { NO_PLAN } from '../../../src/schema/scope.ts';
import { type AddedField, extendedSchema, KINDS, selected } from '../../support/extended-schema.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { startedOnce } from '../../support/started.ts';
import { withClaims } from '../../support/tokens.ts';
import { codesOf, STREAMED_TRANSPORTS } from '../limits/every-transport.ts';

/** The number of resolver calls, by the `sharing` of the field. */
const runs = { group: 0, copy: 0 };

/** A value that differs for each user. */
const tokenEnd = ({ scope }: Context) => scope.caller.token?.text.slice(-12);
const tokenEndLater = async (context: Context) => {
  await context.scope.viewer();
  return tokenEnd(context);
};
const countedField = (sharing: keyof typeof runs): AddedField => ({
  sharing,
  read: () => {
    runs[sharing] += 1;
    return 'the same';
  },
});

/** Fields with the same value for all accounts of a group, or for all accounts that get the same copy of its catalog. */
const SHARED = { group: countedField('group'), copy: countedField('copy') };

/** Fields with a value of the user. Those called `wrong…` are marked as shared by mistake. */
const PERSONAL = {
  unmarked: { sharing: null, read: tokenEnd },
  unmarkedLater: { sharing: null, read: tokenEndLater },
  account: { sharing: 'account', read: tokenEnd },
  wrongGroup: { sharing: 'group', read: tokenEnd },
  wrongGroupLater: { sharing: 'group', read: tokenEndLater },
  wrongCopy: { sharing: 'copy', read: tokenEnd },
  wrongCopyLater: { sharing: 'copy', read: tokenEndLater },
} satisfies Record<string, AddedField>;

/** Each read that a field can make, except the catalog's. */
const PERSONAL_READS: Readonly<Record<string, (context: Context) => unknown>> = {
  readsViewer: ({ scope }) => scope.viewer() && 'x',
  readsCaller: ({ scope }) => scope.caller && 'x',
  readsSession: async ({ scope }) => (await scope.session()).session.login,
  readsPositions: async ({ scope }) => (await scope.positions()).length,
  readsPositionsOf: async ({ scope }) => (await scope.positionsOf(await scope.session()))?.length,
  readsPositionsIn: async ({ scope }) => (await scope.positionsIn('AAPL')).length,
  readsOrders: async ({ scope }) => (await scope.orders())?.length,
  readsOrdersFor: async ({ scope }) => (await scope.ordersFor('AAPL'))?.length,
  readsWithdrawalMethods: async ({ scope }) =>
    (await scope.read(OPERATIONS.getWithdrawalMethods)).length,
  readsCustomerId: ({ scope }) => scope.read(OPERATIONS.getCustomerId),
  readsRenewed: async ({ scope }) => (await scope.renewed(NO_PLAN).catalog()).group,
  readsAsAnother: ({ scope }) => scope.withToken('another') && 'x',
  writes: (context) => context.write(async () => 'x'),
};

/** Fields that make one of these reads although they are marked as shared. */
const wronglyShared = Object.fromEntries(
  Object.entries(PERSONAL_READS).map(([name, read]) => [name, { sharing: 'group', read } as const]),
);

/** Whether `sometimes` reads the viewer's data. */
let readsViewer = false;
const sometimes: AddedField = {
  sharing: 'group',
  read: (context) => (readsViewer ? tokenEnd(context) : 'nobody’s'),
};

const schema = extendedSchema(['Instrument'], {
  ...SHARED,
  ...PERSONAL,
  ...wronglyShared,
  sometimes,
  property: { sharing: null },
});

// The sandbox is not embedded in the service: in sandbox mode each answer gets an extension of its own, and no cached bytes
// are sent.
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
  operation: string | Operation,
  headers: Readonly<Record<string, string>> = {},
  method: 'GET' | 'POST' = 'GET',
) {
  const asked = typeof operation === 'string' ? { query: operation } : operation;
  const { variables = {}, ...texts }: Operation = asked;
  const search = new URLSearchParams({ ...texts, variables: JSON.stringify(variables) });
  const response = await fetch(`${app.url}/graphql${method === 'GET' ? `?${search}` : ''}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json',
      'content-type': 'application/json',
      ...headers,
    },
    ...(method === 'POST' && { body: JSON.stringify({ ...texts, variables }) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    etag: response.headers.get('etag'),
    type: response.headers.get('content-type'),
    caching: response.headers.get('cache-control'),
    body: text === '' ? null : JSON.parse(text),
  };
}

const UNSHARED = { status: 200, etag: null, caching: 'no-store' };

/** Returns the tokens of all users whose values an answer contains. */
function tokensIn({ data, errors }: { data: unknown; errors?: unknown }): string[] {
  expect(errors).toBeUndefined();
  const shown = JSON.stringify(data);
  return users.filter((token) => shown.includes(token.slice(-12)));
}

const OF_ONE = (field: string) => `{ instrument(id: "AAPL") { id ${field} } }`;
const OF_MANY = (field: string) => `{ catalog { instruments { id ${field} } } }`;

const withKinds = (names: readonly string[]) =>
  names.flatMap((name) => KINDS.map((kind) => [name, kind] as const));

describe('by GET', () => {
  test.each(withKinds(Object.keys(PERSONAL)))(
    'each user gets their own values: %s%s',
    async (name, kind) => {
      for (const document of [OF_ONE(selected(name, kind)), OF_MANY(selected(name, kind))]) {
        for (const token of [...users, ...users]) {
          for (const encoding of ['identity', 'br', 'gzip']) {
            const headers = { 'accept-encoding': encoding, 'if-none-match': '*' };
            const answer = await get(token, document, headers);
            expect(answer).toMatchObject(UNSHARED);
            expect(tokensIn(answer.body)).toEqual([token]);
          }
        }
      }
    },
  );

  test.each(withKinds(Object.keys(SHARED)))(
    'an answer of group fields is made once, and one with a field of a catalog copy is made each time: %s%s',
    async (name, kind) => {
      const [other, own] = users;
      const sharing = name as keyof typeof runs;
      const document = OF_MANY(selected(name, kind));
      const { etag, type, body } = await get(other, document);
      expect(etag).not.toBeNull();
      expect(type).toBe('application/json; charset=utf-8');
      const before = runs[sharing];
      for (const encoding of ['identity', 'br', 'gzip']) {
        const again = await get(own, document, { 'accept-encoding': encoding });
        expect(again).toMatchObject({ etag, type, body });
      }
      const moreRuns = sharing === 'copy' ? 3 * body.data.catalog.instruments.length : 0;
      expect(runs[sharing]).toBe(before + moreRuns);
      const known = await get(own, document, { 'if-none-match': String(etag) });
      expect(known).toMatchObject({ status: 304, etag });
    },
  );

  test.each([
    ...Object.keys(PERSONAL_READS).map((name) => `${name}Text`),
    ...KINDS.map((kind) => selected('property', kind)),
  ])(
    'an answer is not cached if a field reads more than the catalog or is not marked as shared: %s',
    async (field) => {
      const [other, own] = users;
      for (const token of [other, other, own]) {
        const answer = await get(token, OF_ONE(field), { 'if-none-match': '*' });
        expect(answer).toMatchObject(UNSHARED);
        expect(answer.body.errors).toBeUndefined();
      }
    },
  );

  test('the first 304 is sent only after the answer has been made, and later ones are from the cache', async () => {
    const [, own] = users;
    const document = `{ instrument(id: "AAPL") { groupText again: groupText } }`;
    const before = runs.group;
    const first = await get(own, document, { 'if-none-match': '*' });
    expect(first.status).toBe(304);
    expect(runs.group).toBe(before + 2);
    const etag = String(first.etag);
    expect((await get(own, document, { 'if-none-match': etag })).status).toBe(304);
    expect(runs.group).toBe(before + 2);
  });

  test('the answers of an operation are no longer shared once it has read the viewer’s data', async () => {
    const query = `query ($id: ID!) { instrument(id: $id) { a: sometimesText } }`;
    const ask = (token: string, id: string) => get(token, { query, variables: { id } });
    readsViewer = false;
    expect((await ask(users[0], 'AAPL')).etag).not.toBeNull();
    expect((await ask(users[1], 'AAPL')).etag).not.toBeNull();
    readsViewer = true;
    expect(tokensIn((await ask(users[0], 'TSLA')).body)).toEqual([users[0]]);
    for (const token of [...users, ...users]) {
      const answer = await ask(token, 'AAPL');
      expect(answer).toMatchObject(UNSHARED);
      expect(tokensIn(answer.body)).toEqual([token]);
    }
  });
});

describe('cached bytes of the catalog', () => {
  const query = `query First($n: Int = 2) { instruments(first: $n) { nodes { id access } } catalog { group } }
    query Second($n: Int = 2) { instruments(last: $n) { nodes { id access } } catalog { group } }`;
  const asked = (variables: object = {}, operationName = 'First') => {
    return { query, operationName, variables };
  };
  let token: string;
  beforeAll(async () => {
    token = await app.signIn();
    for (const name of ['First', 'Second']) {
      for (let i = 0; i < 2; i += 1) await get(token, asked({}, name));
    }
  });

  describe.each(['GET', 'POST'] as const)('requested by %s', (method) => {
    const ask = (from: string, operation = asked(), headers = {}) =>
      get(from, operation, headers, method);

    test('are not sent for a token that is unproved or revoked', async () => {
      const { etag } = await get(token, asked());
      const forged = withClaims(token, { exp: 9_999_999_999 });
      const answer = await ask(forged, asked(), { 'if-none-match': `${etag}, *` });
      expect(answer).toMatchObject({ status: 200, etag: null });
      const revoked = await app.signIn();
      expect((await ask(revoked)).body.data.instruments.nodes).toHaveLength(2);
      gateway.revoke({ token: revoked });
      // The next call of the gateway reveals the revocation.
      await app.query('{ customerId }', { token: revoked });
      for (const { body } of [answer, await ask(revoked)]) {
        expect(body.data).toEqual({ instruments: null, catalog: null });
        expect(codesOf(body)).toContain('UNAUTHENTICATED');
      }
    });

    test('are not sent to another group’s token, even if it claims their group', async () => {
      const pro = gateway.token({ email: 'pro@example.com' });
      const claiming = gateway.token({ email: 'pro@example.com', group: 'standard-usd' });
      for (const foreignToken of [pro, claiming]) {
        const { data, errors } = (await ask(foreignToken)).body;
        expect(data.catalog?.group ?? null).not.toBe('standard-usd');
        if (data.catalog === null) expect(errors[0].extensions.code).toBe('FORBIDDEN');
      }
    });

    test('are sent only for the same operation and variables', async () => {
      const second = await ask(token, asked({}, 'Second'));
      expect(second.body.data.instruments).not.toEqual((await ask(token)).body.data.instruments);
      for (const n of [0, 1, 3]) {
        const { body } = await ask(token, asked({ n }));
        expect(body.data.instruments.nodes).toHaveLength(n);
      }
      const wrong = await ask(token, asked({ n: '2' }));
      expect(wrong.body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
      // Undeclared variables make no difference.
      const { etag } = await ask(token, asked({ n: 2 }));
      for (const variables of [{}, { n: 2, unknown: 'x'.repeat(1_000) }]) {
        expect(await ask(token, asked(variables))).toMatchObject({ etag });
      }
    });
  });
});

test.each(Object.keys(PERSONAL))(
  'over sockets and event streams each user gets their own values: %s',
  async (name) => {
    const query = OF_ONE(selected(name, 'Text'));
    for (const token of [...users, ...users]) {
      for (const [, ask] of STREAMED_TRANSPORTS) {
        const { data, errors } = await ask(app, { query }, token);
        expect(tokensIn({ data, errors })).toEqual([token]);
      }
    }
  },
);
