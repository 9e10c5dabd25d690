import { expect, test } from 'vitest';
import { toToken } from '../../../lib/token.ts';
import type { Caller } from '../../../src/gateway/caller.ts';
import { type Exchange, exchanged, type WireCall } from '../../../src/gateway/exchange.ts';
import { OPERATIONS } from '../../../src/gateway/operations.ts';
import { createBulkheads, withBulkheads } from '../../../src/gateway/resilience/bulkhead.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

/** Reads of an area with so many connections, which a test answers; of the feeds half as many are under way. */
function openReads(width: number) {
  const clock = createScriptedClock();
  const sent: { call: WireCall; answer: () => void }[] = [];
  const guarded = withBulkheads(
    (call, end) =>
      void sent.push({ call, answer: () => end({ sent: false, cause: new Error('refused') }) }),
    { reads: createBulkheads(clock, width) },
    clock,
  );
  const send = (path: string, caller: Partial<Caller> = {}): Promise<Exchange> =>
    exchanged(guarded, {
      operation: 'getOpenPositions',
      row: OPERATIONS.getOpenPositions,
      path,
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

test('a poll that waited has only the rest of its time, and one whose time is over was never sent', async () => {
  const { clock, sent, send, answer } = openReads(2);
  const poll = () => send('/', { priority: 'poll' });
  for (let at = 0; at < 2; at += 1) void poll();
  await clock.advance(1_200);
  await answer(0);
  expect(sent.map(({ call }) => call.deadlineMs)).toEqual([5_000, 3_800]);
  const late = poll();
  await clock.advance(5_000);
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
  const { send, answer, paths } = openReads(3);
  for (let at = 0; at < 100; at += 1) void send(`/crowd/${at}`, { provedLogin: () => 'crowd' });
  for (let at = 0; at < 3; at += 1) void send(`/other/${at}`, { provedLogin: () => 'other' });
  for (let at = 0; at < 6; at += 1) await answer(at);
  expect(paths()).toEqual([
    ...['/crowd/0', '/crowd/1', '/crowd/2', '/crowd/3', '/other/0', '/crowd/4', '/other/1'],
    ...['/crowd/5', '/other/2'],
  ]);
});
