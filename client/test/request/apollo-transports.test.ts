import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { Defer20220824Handler } from '@apollo/client/incremental';
import { BatchHttpLink } from '@apollo/client/link/batch-http';
import { expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { sharedApp } from '../../../test/support/shared-app.ts';

const app = sharedApp();

/** Apollo Client as its guide sets it up, but for the link. */
function clientOf(Link: typeof HttpLink | typeof BatchHttpLink, token?: string) {
  return new ApolloClient({
    link: new Link({
      uri: `${app.url}/graphql`,
      headers: {
        authorization: `Bearer ${token ?? app.sandbox.token({ email: 'demo@example.com' })}`,
      },
    }),
    cache: new InMemoryCache(),
    incrementalHandler: new Defer20220824Handler(),
  });
}

test('a screen with @defer gets all of its parts', async () => {
  const query = gql`
    query Screen($later: Boolean = true) {
      session { id }
      ... @defer(label: "slow", if: $later) { customerId }
      positions { id ...more @defer }
    }
    fragment more on Position { profit }
  `;
  const { data } = await clientOf(HttpLink).query<Record<string, unknown>>({ query });
  expect(data).toMatchObject({
    session: { id: '700001' },
    customerId: 'cus_700001',
    positions: expect.arrayContaining([expect.objectContaining({ profit: expect.any(Number) })]),
  });
});

test('a subscription over HTTP gets its events by Apollo’s multipart protocol, and ends', async () => {
  const events: unknown[] = [];
  const watching = clientOf(HttpLink)
    .subscribe({ query: gql`subscription { positions { id profit } }` })
    .subscribe(({ data }) => void events.push(data));
  await eventually(() => events.length === 1);
  app.sandbox.tick();
  await eventually(() => events.length > 1);
  watching.unsubscribe();
  expect(events[1]).toMatchObject({
    positions: [{ id: '700001001', profit: expect.any(Number) }, {}, {}, {}, {}, {}],
  });
});

test('a subscription whose token is refused says so by multipart too', async () => {
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const results: { readonly error?: unknown }[] = [];
  let isOver = false;
  clientOf(HttpLink, token)
    .subscribe({ query: gql`subscription { positions { id } }` })
    .subscribe({ next: (result) => void results.push(result), complete: () => (isOver = true) });
  await eventually(() => results.length > 0);
  app.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', status: 401 });
  await eventually(() => isOver);
  app.sandbox.clearFaults();
  expect(results.at(-1)?.error).toMatchObject({
    errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
  });
});

test('a batch is refused in words that the link hands on to each of its operations', async () => {
  const client = clientOf(BatchHttpLink);
  const queries = [gql`{ customerId }`, gql`{ session { id } }`];
  const settled = await Promise.allSettled(queries.map((query) => client.query({ query })));
  expect(settled.map((each) => each.status === 'rejected' && String(each.reason))).toEqual(
    queries.map(() => expect.stringContaining('Batches are not supported')),
  );
});
