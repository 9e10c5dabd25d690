import { expect, test } from 'vitest';
import { createClient } from '../../src/create-client.ts';
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
