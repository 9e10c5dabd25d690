import { expect, test } from 'vitest';
import { openSandbox } from './sandbox-client.ts';

async function story(seed: string): Promise<string[]> {
  await using place = await openSandbox({ seed });
  const demo = place.as('demo@example.com');
  const answers: string[] = [];
  const read = async () => {
    answers.push((await demo.get('/trading/session/700001')).text);
    answers.push((await demo.get('/trading/positions')).text);
  };
  await read();
  place.sandbox.tick(20);
  await place.clock.advance(1_000);
  await demo.order({ symbol: 'EURUSD', amount: 1_000, sl: 0.5 });
  await read();
  place.sandbox.tick(50);
  await read();
  answers.push((await demo.get('/trading/tickers/standard-usd')).text);
  answers.push((await place.as('user-12@example.com').get('/trading/positions')).text);
  return answers;
}

test('the same seed gives the same bytes', async () => {
  expect(await story('one')).toEqual(await story('one'));
});

test('an account begins with the same positions, whenever it is first used', async () => {
  await using early = await openSandbox();
  await using late = await openSandbox();
  const beginning = async (place: typeof early) => {
    const { positions, prevEquity } = await place.as('pro@example.com').session();
    return [
      prevEquity,
      ...positions.map(({ id, symbol, units, priceOpen, sl, tp, invested }) => ({
        ...{ id, symbol, units, priceOpen, sl, tp, invested },
      })),
    ];
  };
  late.sandbox.tick(40);
  const lateBeginning = await beginning(late);
  expect(lateBeginning).toHaveLength(26);
  expect(lateBeginning).toEqual(await beginning(early));
});

test('another seed gives another market', async () => {
  const [one, two] = [await story('one'), await story('two')];
  for (const [i, text] of one.entries()) expect(text).not.toBe(two[i]);
});

test('a reset leads back to the beginning', async () => {
  await using place = await openSandbox();
  const demo = place.as('demo@example.com');
  const first = (await demo.get('/trading/session/700001')).text;
  place.sandbox.tick(5);
  await demo.order({});
  await demo.put('/user/kv/theme', { value: 'dark' });
  expect((await demo.get('/trading/session/700001')).text).not.toBe(first);
  place.sandbox.reset();
  expect(place.sandbox.orders()).toEqual([]);
  expect(place.sandbox.calls()).toBe(0);
  expect((await demo.get('/trading/session/700001')).text).toBe(first);
});

test('the positions of one account do not change the prices of another', async () => {
  await using busy = await openSandbox();
  await using quiet = await openSandbox();
  const prices = async (place: typeof busy) =>
    (await place.as('demo@example.com').positions()).map(({ priceCurrent }) => priceCurrent);
  for (let n = 1; n <= 20; n += 1) await busy.as(`user-${n}@example.com`).positions();
  busy.sandbox.tick(30);
  quiet.sandbox.tick(30);
  expect(await prices(busy)).toEqual(await prices(quiet));
});

test('the market moves by itself at its pace, and stands still once closed', async () => {
  const place = await openSandbox({ tickMs: 250 });
  const demo = place.as('demo@example.com');
  const first = (await demo.get('/trading/positions')).text;
  await place.clock.advance(249);
  expect((await demo.get('/trading/positions')).text).toBe(first);
  await place.clock.advance(1);
  expect((await demo.get('/trading/positions')).text).not.toBe(first);
  await place.sandbox.close();
  expect(place.clock.pending).toBe(0);
});
