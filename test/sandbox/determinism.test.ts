import { expect, test } from 'vitest';
import { VALUE } from '../../src/gateway/operations/set-value.ts';
import { eventually } from '../support/eventually.ts';
import { openSandbox } from './sandbox-client.ts';

/** The answers of a sandbox after the same ticks and the same order. */
async function answersOf(seed: string): Promise<string[]> {
  await using place = await openSandbox({ seed });
  const demo = place.as('demo@example.com');
  place.sandbox.tick(20);
  await place.clock.advance(1_000);
  await demo.order({ symbol: 'EURUSD', amount: 1_000, sl: 0.5 });
  place.sandbox.tick(50);
  const answers = [
    await demo.ask('getSession'),
    await demo.ask('getOpenPositions'),
    await demo.ask('getAllTickers'),
    await place.as('user-12@example.com').ask('getOpenPositions'),
  ];
  return answers.map(({ text }) => text);
}

test('the same seed produces the same bytes', async () => {
  expect(await answersOf('one')).toEqual(await answersOf('one'));
});

test('a reset restores the initial state', async () => {
  await using place = await openSandbox();
  const demo = place.as('demo@example.com');
  const first = (await demo.ask('getSession')).text;
  place.sandbox.tick(5);
  await demo.order({});
  await demo.ask('setValue', VALUE.toWire({ value: 'dark' }));
  expect((await demo.ask('getSession')).text).not.toBe(first);
  place.sandbox.reset();
  expect(place.sandbox.orders()).toEqual([]);
  expect(place.sandbox.calls()).toBe(0);
  expect((await demo.ask('getSession')).text).toBe(first);
});

test('an order number is issued once, also across resets', async () => {
  await using place = await openSandbox();
  const numberOf = async () => {
    await place.as('demo@example.com').order({});
    return place.sandbox.orders().at(-1)?.orderId;
  };
  const first = await numberOf();
  const waiting = place.as('demo@example.com').order({ symbol: 'TEST.SLOW' });
  await eventually(() => place.sandbox.calls('openPosition') === 2);
  place.sandbox.reset();
  expect(Number(await numberOf())).toBe(Number(first) + 1);
  // The waiting order was placed before the reset. It ends after the reset, and gets the next number.
  await place.clock.advance(60_000);
  expect(Number(await waiting)).toBe(Number(first) + 2);
});
