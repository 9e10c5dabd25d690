import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { Defer20220824Handler } from '@apollo/client/incremental';
import { beforeAll, expect, test } from 'vitest';
import { CLIENT_REQUESTS } from '../../../test/support/client-requests.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { sharedApp } from '../../../test/support/shared-app.ts';
import { startCore } from '../support/client.ts';
import { countedEnvironment } from '../support/counted-environment.ts';

const QUERY = '{ customerId }';

const app = sharedApp();
let url: string;
let token: string;

beforeAll(() => {
  url = `${app.url}/graphql`;
  token = app.sandbox.token({ email: 'demo@example.com' });
});

interface Sent {
  readonly method: string;
  readonly accept: string | undefined;
  readonly contentType: string | undefined;
}

/** Sends a library's requests unchanged, but with a token, and records them. */
function recordingFetch() {
  const sent: Sent[] = [];
  const recording: typeof fetch = (target, init) => {
    const headers = new Headers(init?.headers);
    sent.push({
      method: init?.method ?? 'GET',
      accept: headers.get('accept') ?? '*/*',
      contentType: headers.get('content-type') ?? undefined,
    });
    headers.set('authorization', `Bearer ${token}`);
    return fetch(target, { ...init, headers });
  };
  return { sent, fetch: recording };
}

type Uses = (given: { readonly fetch: typeof fetch }) => Promise<unknown>;

const apollo =
  (useGETForQueries: boolean): Uses =>
  async ({ fetch }) => {
    const link = new HttpLink({ uri: url, fetch, useGETForQueries });
    const client = new ApolloClient({ link, cache: new InMemoryCache() });
    return (await client.query({ query: gql(QUERY) })).data;
  };
const own: Uses = async ({ fetch }) => {
  using core = startCore(app, { environment: countedEnvironment({ fetch }) });
  return (await core.request(QUERY, undefined)).data;
};

test.each([
  ['Apollo Client', '4.3.8', 'POST', 'query', apollo(false)],
  ['Apollo Client', '4.3.8', 'GET', 'query', apollo(true)],
  ['trading-graph-client', 'here', 'POST', 'query', own],
] as const)(
  '%s %s sends the %s request for a %s that is recorded for this version, and gets an answer',
  async (client, version, method, kind, use) => {
    const recorded = CLIENT_REQUESTS.find(
      (each) =>
        each.client === client &&
        each.version === version &&
        each.method === method &&
        each.kind === kind,
    );
    const { sent, fetch } = recordingFetch();
    expect(await use({ fetch })).toMatchObject({ customerId: 'cus_700001' });
    const { accept, contentType } = recorded ?? {};
    expect(sent).toEqual([{ method, accept, contentType }]);
  },
);

/** Apollo Client as its guide sets it up, except the link. */
function startApollo() {
  return new ApolloClient({
    link: new HttpLink({ uri: url, headers: { authorization: `Bearer ${token}` } }),
    cache: new InMemoryCache(),
    incrementalHandler: new Defer20220824Handler(),
  });
}

test('a subscription over HTTP gets its events and its final error by Apollo’s multipart protocol', async () => {
  const results: { readonly data?: unknown; readonly error?: unknown }[] = [];
  let isOver = false;
  startApollo()
    .subscribe({ query: gql`subscription { positions { id profit } }` })
    .subscribe({ next: (result) => void results.push(result), complete: () => (isOver = true) });
  await eventually(() => expect(results).toHaveLength(1));
  app.sandbox.tick();
  await eventually(() => expect(results.length).toBeGreaterThan(1));
  expect(results[1]?.data).toMatchObject({
    positions: [{ id: '700001001', profit: expect.any(Number) }, {}, {}, {}, {}, {}],
  });
  app.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', status: 401 });
  await eventually(() => isOver);
  expect(results.at(-1)?.error).toMatchObject({
    errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
  });
});
