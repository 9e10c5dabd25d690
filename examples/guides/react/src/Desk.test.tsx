import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { TradingGraphProvider } from 'trading-graph-client/react';
import { fakeClient } from 'trading-graph-client/testing';
import { expect, test } from 'vitest';
import { Desk } from './Desk';

test('an order whose answer is lost is asked about', async () => {
  const { client, market } = fakeClient({
    positions: [{ id: '1', symbol: 'AAPL', units: 2, priceOpen: 100 }],
  });
  const page = document.createElement('main');
  await act(async () =>
    createRoot(page).render(
      <TradingGraphProvider client={client}>
        <Desk />
      </TradingGraphProvider>,
    ),
  );
  await act(() => market.move('AAPL', 103));
  expect(page.textContent).toMatch(/LIVE.*AAPL: 6/);
  await act(() => market.cut());
  expect(page.textContent).toContain('OFFLINE');
  await act(() => market.heal());
  await act(async () => page.querySelector('button')?.click());
  await act(() => market.lose());
  await act(() => market.accept());
  expect(page.textContent).toContain('accepted');
});
