// @vitest-environment happy-dom
import type { Fake } from 'trading-graph-client/testing';
import { expect, test, vi } from 'vitest';
import { createApp, nextTick } from 'vue';
import App from './App.vue';
import * as made from './client';

// In place of the app's client stands that of a market which the test moves.
vi.mock('./client', async () => {
  const { fakeClient } = await import('trading-graph-client/testing');
  return fakeClient({ positions: [{ id: '1', symbol: 'AAPL', units: 2, priceOpen: 100 }] });
});
const { market } = made as unknown as Fake;

test('an order whose answer is lost is asked about, also after its screen was left', async () => {
  const page = document.createElement('main');
  const screen = createApp(App);
  screen.mount(page);
  await market.move('AAPL', 103);
  await nextTick();
  expect(page.textContent).toMatch(/LIVE.*AAPL: 6/);
  await market.cut();
  await nextTick();
  expect(page.textContent).toContain('OFFLINE');
  await market.heal();
  page.querySelector('button')?.click();
  screen.unmount();
  createApp(App).mount(page);
  expect(page.textContent).toContain('placing');
  await market.lose();
  await market.accept();
  await nextTick();
  expect(page.textContent).toContain('accepted');
});
