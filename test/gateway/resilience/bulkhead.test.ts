import { expect, test } from 'vitest';
import { toToken } from '../../../lib/token.ts';
import { type Exchange, exchanged, type WireCall } from '../../../src/gateway/exchange.ts';
import { OPERATIONS } from '../../../src/gateway/operations.ts';
import { createBulkhead, withBulkheads } from '../../../src/gateway/resilience/bulkhead.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const refused: Exchange = { sent: false, cause: new Error('refused') };

function openBulkhead(width: number) {
  const clock = createScriptedClock();
  const bulkhead = createBulkhead(clock, width);
  const unproved = createBulkhead(clock, 1);
  const all = createBulkhead(clock, 3);
  const sent: { call: WireCall; answer: () => void }[] = [];
  const guarded = withBulkheads(
    (call, end) => {
      const { promise, resolve } = Promise.withResolvers<Exchange>();
      void promise.then(end);
      sent.push({ call, answer: () => resolve(refused) });
    },
    { reads: { all, unproved, polls: bulkhead } },
    clock,
  );
  const send = (call: WireCall) => exchanged(guarded, call);
  return { clock, bulkhead, unproved, all, sent, send };
}

function poll(options: { signal?: AbortSignal; priority?: 'poll' } = { priority: 'poll' }) {
  return {
    operation: 'getOpenPositions',
    row: OPERATIONS.getOpenPositions,
    path: '/trading/positions',
    headers: [],
    body: null,
    deadlineMs: 5_000,
    maxBytes: 1_000,
    caller: { token: toToken('a token'), provedLogin: () => 'customer', ...options },
  } satisfies WireCall;
}

test('polls beyond the bulkhead’s width wait, in first-in, first-out order', async () => {
  const { clock, bulkhead, sent, send } = openBulkhead(2);
  for (let index = 0; index < 4; index += 1) void send({ ...poll(), path: `/${index}` });
  await clock.advance(0);
  expect(sent.map(({ call }) => call.path)).toEqual(['/0', '/1']);
  expect(bulkhead).toMatchObject({ taken: 2, waiting: 2 });
  sent[1]?.answer();
  await clock.advance(0);
  expect(sent.map(({ call }) => call.path)).toEqual(['/0', '/1', '/2']);
  for (let answered = 0; answered < 4; answered += 1) {
    sent[answered]?.answer();
    await clock.advance(0);
  }
  expect(bulkhead).toMatchObject({ taken: 0, waiting: 0 });
});

test('a poll that waited has only the rest of its time', async () => {
  const { clock, sent, send } = openBulkhead(1);
  void send(poll());
  void send(poll());
  await clock.advance(1_200);
  sent[0]?.answer();
  await clock.advance(0);
  expect(sent.map(({ call }) => call.deadlineMs)).toEqual([5_000, 3_800]);
});

test('a poll that timed out in line was never sent', async () => {
  const { clock, bulkhead, sent, send } = openBulkhead(1);
  void send(poll());
  const late = send(poll());
  await clock.advance(5_000);
  expect(await late).toEqual({
    sent: false,
    cause: expect.objectContaining({ name: 'NotAttemptedError', reason: 'busy' }),
  });
  expect(bulkhead).toMatchObject({ taken: 1, waiting: 0 });
  sent[0]?.answer();
  await clock.advance(0);
  expect(bulkhead.taken).toBe(0);
  expect(sent).toHaveLength(1);
});

/** A read of a proved account, or of nobody known at an address. */
function readOf(name: string, path: string): WireCall {
  const client = { address: name, userAgent: null };
  const provedLogin = () => (name.includes('.') ? null : name);
  return { ...poll({}), path, caller: { token: toToken('a token'), client, provedLogin } };
}

const pathsOf = (sent: readonly { call: WireCall }[]) => sent.map(({ call }) => call.path);

test('an account with a hundred calls delays another’s by one call', async () => {
  const { clock, all, sent, send } = openBulkhead(1);
  for (let at = 0; at < 100; at += 1) void send(readOf('crowd', `/crowd/${at}`));
  for (let at = 0; at < 3; at += 1) void send(readOf('other', `/other/${at}`));
  await clock.advance(0);
  expect(pathsOf(sent)).toEqual(['/crowd/0', '/crowd/1', '/crowd/2']);
  for (let at = 0; at < 6; at += 1) {
    sent[at]?.answer();
    await clock.advance(0);
  }
  expect(pathsOf(sent.slice(3))).toEqual([
    '/crowd/3',
    '/other/0',
    '/crowd/4',
    '/other/1',
    '/crowd/5',
    '/other/2',
  ]);
  expect(all.waiting).toBe(94);
});
