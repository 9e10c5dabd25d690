import { expect, test } from 'vitest';
import { toToken } from '../../../lib/token.ts';
import type { Caller } from '../../../src/gateway/caller.ts';
import { exchanged, type WireCall } from '../../../src/gateway/exchange.ts';
import { OPERATIONS } from '../../../src/gateway/operations.ts';
import { createBulkheads, withBulkheads } from '../../../src/gateway/resilience/bulkhead.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const ORDER_WAIT_MS = 2_000;

/** An area with so many connections, whose calls a test answers; of the feeds half as many are under way. */
function openArea(width: number, operation: 'getOpenPositions' | 'openPosition') {
  const clock = createScriptedClock();
  const row = OPERATIONS[operation];
  const refused = { sent: false, cause: new Error('refused') } as const;
  const sent: { call: WireCall; answer: () => void }[] = [];
  const guarded = withBulkheads(
    (call, end) => void sent.push({ call, answer: () => end(refused) }),
    { [row.area]: createBulkheads(clock, width, row.effect === 'order') },
    clock,
    ORDER_WAIT_MS,
  );
  const send = (path: string, caller: Partial<Caller> = {}, onLate?: WireCall['onLate']) =>
    exchanged(guarded, {
      operation,
      row,
      path,
      onLate,
      headers: [],
      body: null,
      deadlineMs: 5_000,
      maxBytes: 1_000,
      caller: { token: toToken('a token'), provedLogin: () => 'customer', ...caller },
    });
  const answer = async (at: number) => {
    sent[at]?.answer();
    await clock.advance(0);
  };
  return { clock, sent, send, answer, paths: () => sent.map(({ call }) => call.path) };
}

test('a poll that waited has only the rest of its time, and one that has waited for half of it was never sent', async () => {
  const { clock, sent, send, answer } = openArea(2, 'getOpenPositions');
  const poll = () => send('/', { priority: 'poll' });
  for (let at = 0; at < 2; at += 1) void poll();
  await clock.advance(1_200);
  await answer(0);
  expect(sent.map(({ call }) => call.deadlineMs)).toEqual([5_000, 3_800]);
  const late = poll();
  await clock.advance(2_499);
  expect(sent).toHaveLength(2);
  await clock.advance(1);
  expect(await late).toEqual({
    sent: false,
    cause: expect.objectContaining({ name: 'NotAttemptedError', reason: 'busy' }),
  });
  await answer(1);
  expect(sent).toHaveLength(2);
  void poll();
  expect(sent).toHaveLength(3);
});

test('an account with a hundred calls delays another’s by one call', async () => {
  const { send, answer, paths } = openArea(3, 'getOpenPositions');
  for (let at = 0; at < 100; at += 1) void send(`/crowd/${at}`, { provedLogin: () => 'crowd' });
  for (let at = 0; at < 3; at += 1) void send(`/other/${at}`, { provedLogin: () => 'other' });
  for (let at = 0; at < 6; at += 1) await answer(at);
  expect(paths()).toEqual([
    ...['/crowd/0', '/crowd/1', '/crowd/2', '/crowd/3', '/other/0', '/crowd/4', '/other/1'],
    ...['/crowd/5', '/other/2'],
  ]);
});

/** Orders of accounts by name, over 32 connections. */
function openOrders() {
  const area = openArea(32, 'openPosition');
  const place = (account: string, times = 1, onLate?: WireCall['onLate']) =>
    Array.from({ length: times }, () => area.send(account, { provedLogin: () => account }, onLate));
  const sentOf = (account: string) => area.paths().filter((path) => path === account).length;
  return { ...area, place, sentOf };
}

test('an account’s orders hold three quarters of the connections, and a quarter while others order and for a minute after', async () => {
  const { clock, place, sentOf, answer } = openOrders();
  place('crowd', 40);
  expect(sentOf('crowd')).toBe(24);
  place('other');
  for (let at = 0; at < 16; at += 1) await answer(at);
  place('crowd', 3);
  expect([sentOf('crowd'), sentOf('other')]).toEqual([24, 1]);
  // Eight are left: each that ends makes room for the next.
  for (let at = 16; at < 18; at += 1) await answer(at);
  expect(sentOf('crowd')).toBe(26);
  // An order leaves soon after its tap, or not at all.
  const waited = place('crowd');
  await clock.advance(ORDER_WAIT_MS);
  expect(await waited[0]).toMatchObject({ sent: false, cause: { reason: 'busy' } });
  await clock.advance(60_000);
  place('crowd', 40);
  // The last quarter is the others' even then.
  expect(sentOf('crowd')).toBe(26 + 15);
});

test('the last quarter of the connections is for accounts that hold none, whatever becomes of the others’ orders', () => {
  const { place, sentOf } = openOrders();
  for (const account of ['a', 'b', 'c', 'd']) place(account, 8);
  expect(['a', 'b', 'c', 'd'].map(sentOf)).toEqual([8, 8, 8, 1]);
  for (const account of ['e', 'f', 'g']) place(account, 2);
  expect(['e', 'f', 'g'].map(sentOf)).toEqual([1, 1, 1]);
});

test('an order that is read on keeps its place: half of an account’s, and half of all', async () => {
  const { clock, sent, place, sentOf, answer } = openOrders();
  const late: string[] = [];
  place('other');
  const ofAccounts = ['a', 'b'].flatMap((account) => place(account, 8, () => late.push(account)));
  const kept = sent.map(({ call }) => call.mayBeLate?.() ?? false);
  expect(kept.slice(1)).toEqual(
    ['a', 'b'].flatMap(() => [...Array(4).fill(true), ...Array(4).fill(false)]),
  );
  // Four that are read on, and one that is not: three more are under way.
  for (let at = 1; at < 6; at += 1) await answer(at);
  await Promise.all(ofAccounts.slice(0, 5));
  place('a', 8);
  expect(sentOf('a')).toBe(9);
  const another = sent[6]?.call;
  expect(another?.mayBeLate?.()).toBe(false);
  sent[1]?.call.onLate?.({ sent: false, cause: null });
  await clock.advance(0);
  expect(sentOf('a')).toBe(10);
  expect(another?.mayBeLate?.()).toBe(true);
  expect(late).toEqual(['a']);
});
