import { expect, test } from 'vitest';
import type { WireSession } from '../../src/sandbox/wire-types.ts';
import { openSandbox } from './sandbox-client.ts';

const cents = (value: number) => Math.round(value * 100);
const total = (rows: readonly object[], field: string) =>
  rows.reduce((sum, row) => sum + cents((row as Record<string, number>)[field] ?? 0), 0);

function expectToAddUp(session: WireSession): void {
  const { balance, credit, storage, equity, Profits, Invested, assets, positions } = session;
  expect(cents(Profits)).toBe(total(positions, 'profit'));
  expect(cents(Invested)).toBe(total(positions, 'invested'));
  expect(cents(storage)).toBe(total(positions, 'storage'));
  expect(cents(equity)).toBe(cents(balance) + cents(credit) + cents(Profits) + cents(storage));
  expect(cents(assets)).toBe(cents(Invested) + cents(Profits));
}

test.each(['demo@example.com', 'fresh@example.com'])(
  'the figures of %s add up at every tick, whatever opens and closes meanwhile',
  async (email) => {
    await using place = await openSandbox();
    const user = place.as(email);
    const seen = new Set<number>();
    for (let tick = 0; tick < 60; tick += 1) {
      place.sandbox.tick();
      if (tick % 10 === 0) await user.order({ symbol: 'BTCUSD', amount: 0.005 });
      if (tick % 15 === 0) {
        const bitcoin = (await user.positions()).find(({ symbol }) => symbol === 'BTCUSD');
        const price = bitcoin?.priceCurrent ?? 0;
        await user.order({ symbol: 'BTCUSD', amount: 0.005, sl: price * 0.999, tp: price * 1.001 });
      }
      const session = await user.session();
      expectToAddUp(session);
      expect(await user.positions()).toEqual(session.positions);
      seen.add(session.balance);
    }
    // Some are closed, or the test would not show the effect of a close on the balance.
    expect(seen.size).toBeGreaterThan(1);
  },
);

test('a closed position moves its profit and storage into the balance, to the cent', async () => {
  await using place = await openSandbox();
  const demo = place.as('demo@example.com');
  const before = await demo.session();
  const apple = before.positions.find(({ symbol, tp }) => symbol === 'AAPL' && tp > 0);
  if (apple === undefined) throw new Error('demo holds protected AAPL from the start');
  place.sandbox.putPrice('AAPL', apple.tp);
  const after = await demo.session();
  const side = apple.isBuy ? 1 : -1;
  const profit = cents(side * (apple.tp - apple.priceOpen) * apple.units);
  expect(cents(after.balance)).toBe(cents(before.balance) + profit + cents(apple.storage));
  expect(after.positions.map(({ id }) => id)).not.toContain(apple.id);
});
