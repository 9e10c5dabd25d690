import { ApolloClient, InMemoryCache } from '@apollo/client';
import { Defer20220824Handler } from '@apollo/client/incremental';
import { ApolloProvider } from '@apollo/client/react';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { tradingGraphLink } from 'trading-graph-client/apollo';
import { fakeClient } from 'trading-graph-client/testing';
import { expect, test } from 'vitest';
import { Home } from './Home';

test('the balance is shown', async () => {
  const { client, market } = fakeClient();
  const apollo = new ApolloClient({
    link: tradingGraphLink(client),
    cache: new InMemoryCache(),
    incrementalHandler: new Defer20220824Handler(),
  });
  const page = document.createElement('main');
  await act(async () =>
    createRoot(page).render(
      <ApolloProvider client={apollo}>
        <Home />
      </ApolloProvider>,
    ),
  );
  const session = { __typename: 'Session', id: '1', balance: 50, equity: 50, currency: 'USD' };
  await act(() =>
    market.answer({ data: { session, positions: [], orders: [], withdrawalMethods: [] } }),
  );
  expect(page.textContent).toContain('50 USD');
});
