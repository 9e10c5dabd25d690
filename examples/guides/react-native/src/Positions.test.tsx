import { act, render, screen } from '@testing-library/react-native';
import { TradingGraphProvider } from 'trading-graph-client/react';
import { fakeClient } from 'trading-graph-client/testing';
import { Positions } from './Positions';

test('prices move, and a lost network is told', async () => {
  const { client, market } = fakeClient({
    positions: [{ id: '1', symbol: 'AAPL', units: 2, priceOpen: 100 }],
  });
  await render(
    <TradingGraphProvider client={client}>
      <Positions />
    </TradingGraphProvider>,
  );
  await act(() => market.move('AAPL', 103));
  screen.getByText('AAPL 103.00 6.00'); // throws where there is none
  await act(() => market.cut());
  screen.getByText(/^No connection, as of/);
});
