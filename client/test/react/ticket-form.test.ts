import { expect, test } from 'vitest';
import { createClient } from '../../src/create-client.ts';
import { TradingGraphError } from '../../src/errors.ts';
import type { Ticket } from '../../src/orders/ticket.ts';
import { TicketFormStore } from '../../src/react/ticket-form.ts';

test('a form whose state stays the same is not shown anew', async () => {
  const client = createClient({ url: 'http://127.0.0.1:9/graphql', token: () => null });
  const store = new TicketFormStore(client);
  const shown: string[] = [];
  const leave = store.subscribe(() => shown.push(store.snapshot().status));
  const before = store.snapshot();
  before.reset();
  expect(store.snapshot()).toBe(before);
  expect(shown).toEqual([]);
  // Nobody is signed in, so nothing is sent.
  const placed = ['AAPL', 'MSFT'].map((symbol) =>
    before.place({ symbol, side: 'BUY', size: { units: 1 } }),
  );
  for (const { status } of await Promise.all(placed)) expect(status).toBe('unsent');
  expect(shown).toEqual(['placing', 'unsent']);
  leave();
  client.dispose();
});

test('a form shows what is being done for its order, and asks for no account once it is left', async () => {
  const client = createClient({ url: 'http://127.0.0.1:9/graphql', token: () => null });
  const ticket: Ticket = {
    ...{ idempotencyKey: 'key', account: null, isDurable: false },
    async place(_input, { onProgress } = {}) {
      for (const progress of ['sending', 'asking', 'closing'] as const) onProgress?.(progress);
      const error = new TradingGraphError('closed', { code: 'VOIDED', retryable: false });
      return { status: 'unsent', idempotencyKey: 'key', error };
    },
    placeLimit: () => Promise.reject(new Error('none is placed')),
  };
  let ended = 0;
  const store = new TicketFormStore({
    ...client,
    onAccountChange: () => () => {
      ended += 1;
    },
    orders: { ...client.orders, ticket: () => ticket },
  });
  const shown: (string | null)[] = [];
  const leave = store.subscribe(() => {
    const form = store.snapshot();
    shown.push(form.status === 'placing' ? form.progress : form.status);
  });
  const told: string[] = [];
  await store
    .snapshot()
    .place(
      { symbol: 'AAPL', side: 'BUY', size: { units: 1 } },
      { onProgress: (progress) => void told.push(progress) },
    );
  expect(shown).toEqual(['sending', 'asking', 'closing', 'unsent']);
  expect(told).toEqual(['sending', 'asking', 'closing']);
  leave();
  expect(ended).toBe(1);
  client.dispose();
});
