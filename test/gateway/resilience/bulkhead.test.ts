import { expect, test } from 'vitest';
import type { Caller, Exchange, WireCall } from '../../../src/gateway/exchange.ts';
import { firstCallOf } from '../../../src/gateway/operation-traits.ts';
import { OPERATIONS } from '../../../src/gateway/operations.ts';
import { Resilience } from '../../../src/gateway/resilience/resilience.ts';
import { toToken } from '../../../src/lib/limits/request-caller.ts';
import { provedAs } from '../../support/accounts.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

/** The longest wait of an order. */
const ORDER_WAIT_MS = 2_000;

const EMPTY: Exchange = {
  sent: true,
  answered: true,
  status: 200,
  headers: {},
  bytes: Buffer.from('{}'),
  logicalTime: 1,
  sentAtMs: 0,
};

/** An area with `width` connections, whose calls the test answers. */
function openArea(width: number, operation: 'getOpenPositions' | 'openPosition') {
  const scripted = createScriptedClock();
  let frozenMs = 0;
  const clock = { ...scripted, now: () => scripted.now() + frozenMs };
  const described = OPERATIONS[operation];
  /** The calls on the wire. The test answers each of them. */
  const sent: { call: WireCall; answer: (exchange?: Exchange) => void }[] = [];
  const wire = (call: WireCall) => {
    const { promise, resolve } = Promise.withResolvers<Exchange>();
    sent.push({ call, answer: (exchange = EMPTY) => resolve(exchange) });
    return promise;
  };
  const resilience = new Resilience(wire, {
    clock,
    random: Math.random,
    widths: { [described.area]: width },
    onCircuit() {},
    onQuota() {},
    observe() {},
  });
  const send = (path: string, caller: Partial<Caller> = {}) =>
    resilience.send({
      operation: described,
      description: firstCallOf(described),
      path,
      headers: [],
      body: null,
      deadlineMs: 5_000,
      maxBytes: 1_000,
      caller: { token: toToken('a token'), ...provedAs('customer'), ...caller },
    });
  const answer = async (index: number, exchange?: Exchange) => {
    sent[index]?.answer(exchange);
    await clock.advance(0);
  };
  /** Advances the time without firing a timer, as in a pause of the process. */
  const freeze = (ms: number) => {
    frozenMs += ms;
  };
  return { clock, sent, send, answer, freeze, paths: () => sent.map(({ call }) => call.path) };
}

test('a poll waits for at most half of its deadline, and is sent with the rest of the deadline', async () => {
  // Polls use one of the two connections.
  const { clock, sent, send, answer } = openArea(2, 'getOpenPositions');
  const poll = () => send('/', { priority: 'poll' });
  for (let index = 0; index < 2; index += 1) void poll();
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

test('an account with a hundred calls delays another account by one call', async () => {
  const { send, answer, paths } = openArea(3, 'getOpenPositions');
  for (let index = 0; index < 100; index += 1) void send(`/many/${index}`, provedAs('many'));
  for (let index = 0; index < 3; index += 1) void send(`/other/${index}`, provedAs('other'));
  for (let index = 0; index < 6; index += 1) await answer(index);
  expect(paths()).toEqual([
    ...['/many/0', '/many/1', '/many/2', '/many/3', '/other/0', '/many/4', '/other/1'],
    ...['/many/5', '/other/2'],
  ]);
});

/** Opens an area for orders with 32 connections. */
function openOrders() {
  const area = openArea(32, 'openPosition');
  const place = (account: string, times = 1) =>
    Array.from({ length: times }, () => area.send(account, provedAs(account)));
  const sentOf = (account: string) => area.paths().filter((path) => path === account).length;
  return { ...area, place, sentOf };
}

test('an account’s orders hold at most eight connections, a quarter of all, and wait at most two seconds', async () => {
  const { clock, place, sentOf, answer } = openOrders();
  const orders = place('many', 10);
  place('other', 2);
  expect([sentOf('many'), sentOf('other')]).toEqual([8, 2]);
  await answer(0);
  expect(sentOf('many')).toBe(9);
  // The tenth order still waits, and is given up after two seconds.
  await clock.advance(ORDER_WAIT_MS - 1);
  const hasEnded = orders[9]?.then(() => true);
  expect(await Promise.race([hasEnded, Promise.resolve(false)])).toBe(false);
  await clock.advance(1);
  expect(await orders[9]).toMatchObject({ sent: false, cause: { reason: 'busy' } });
  expect(sentOf('many')).toBe(9);
});

test('an order that a pause of the process delays beyond its longest wait is not sent, and frees its place', async () => {
  const { place, sentOf, answer, freeze } = openOrders();
  const waiting = place('a', 9).at(-1);
  freeze(ORDER_WAIT_MS + 1);
  await answer(0);
  expect(await waiting).toMatchObject({ sent: false, cause: { reason: 'busy' } });
  expect(sentOf('a')).toBe(8);
  place('a');
  expect(sentOf('a')).toBe(9);
});

test('if no connection is free, a waiting account comes before further orders of other accounts', async () => {
  const { place, sentOf, answer } = openOrders();
  for (const account of ['a', 'b', 'c', 'd']) place(account, 9);
  place('e');
  expect(sentOf('e')).toBe(0);
  for (let index = 0; index < 5; index += 1) await answer(index);
  expect(sentOf('e')).toBe(1);
});

test('polls hold at most half of the connections, and do not delay requests', async () => {
  const { send, answer, paths } = openArea(4, 'getOpenPositions');
  for (let index = 0; index < 3; index += 1) void send(`/poll/${index}`, { priority: 'poll' });
  expect(paths()).toEqual(['/poll/0', '/poll/1']);
  for (let index = 0; index < 3; index += 1) void send(`/request/${index}`);
  expect(paths().slice(2)).toEqual(['/request/0', '/request/1']);
  await answer(2);
  // The request comes before the waiting poll of its account.
  expect(paths().slice(4)).toEqual(['/request/2']);
  await answer(0);
  expect(paths().slice(5)).toEqual(['/poll/2']);
});

test('unproved callers hold at most half of the connections, from any number of addresses', () => {
  const { send, paths } = openArea(4, 'getOpenPositions');
  for (let index = 0; index < 3; index += 1) {
    const sender = { address: `192.0.2.${index}`, userAgent: null };
    void send(`/unproved/${index}`, { tokenStatus: undefined, sender });
  }
  void send('/proved');
  expect(paths()).toEqual(['/unproved/0', '/unproved/1', '/proved']);
});

test('an order keeps its place until its late answer', async () => {
  const { clock, place, sentOf, answer } = openOrders();
  place('a', 9);
  const late = Promise.withResolvers<Exchange>();
  const unknown = { sent: true, answered: false, reason: 'timeout', cause: null } as const;
  await answer(0, { ...unknown, logicalTime: 1, sentAtMs: 0, late: late.promise });
  expect(sentOf('a')).toBe(8);
  late.resolve({ ...unknown, logicalTime: 1, sentAtMs: 0 });
  await clock.advance(0);
  expect(sentOf('a')).toBe(9);
});
