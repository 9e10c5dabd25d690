import { expect, test } from 'vitest';
import type { Exchange, WireCall } from '../../../src/gateway/exchange.ts';
import type { OperationName } from '../../../src/gateway/operations.ts';
import {
  Bulkhead,
  BulkheadFullError,
  withBulkheads,
} from '../../../src/gateway/resilience/bulkhead.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const refused: Exchange = { sent: false, cause: new Error('refused') };

function openBulkhead(width: number) {
  const clock = createScriptedClock();
  const bulkhead = new Bulkhead(clock, width);
  const anonymous = new Bulkhead(clock, 1);
  const sent: { call: WireCall; answer: () => void }[] = [];
  const send = withBulkheads(
    (call) => new Promise((resolve) => sent.push({ call, answer: () => resolve(refused) })),
    { polls: bulkhead, anonymous },
    clock,
  );
  return { clock, bulkhead, anonymous, sent, send };
}

function poll(options: { signal?: AbortSignal; priority?: 'poll' } = { priority: 'poll' }) {
  return {
    operation: 'getOpenPositions',
    path: '/trading/positions',
    headers: [],
    body: null,
    deadlineMs: 5_000,
    maxBytes: 1_000,
    caller: { token: 'a token', ...options },
  } satisfies WireCall;
}

test('polls beyond the bulkhead’s width wait, in first-in, first-out order', async () => {
  const { clock, bulkhead, sent, send } = openBulkhead(2);
  for (let index = 0; index < 4; index += 1) send({ ...poll(), path: `/${index}` });
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
  send(poll());
  send(poll());
  await clock.advance(1_200);
  sent[0]?.answer();
  await clock.advance(0);
  expect(sent.map(({ call }) => call.deadlineMs)).toEqual([5_000, 3_800]);
});

test('a poll that timed out in line was never sent', async () => {
  const { clock, bulkhead, sent, send } = openBulkhead(1);
  send(poll());
  const late = send(poll());
  await clock.advance(5_000);
  expect(await late).toEqual({ sent: false, cause: new BulkheadFullError() });
  expect(bulkhead).toMatchObject({ taken: 1, waiting: 0 });
  sent[0]?.answer();
  await clock.advance(0);
  expect(bulkhead.taken).toBe(0);
  expect(sent).toHaveLength(1);
});

test('an aborted poll leaves the line', async () => {
  const { bulkhead, sent, send } = openBulkhead(1);
  const controller = new AbortController();
  send(poll());
  const waiting = send(poll({ priority: 'poll', signal: controller.signal }));
  controller.abort();
  expect(await waiting).toMatchObject({ sent: false });
  expect(bulkhead.waiting).toBe(0);
  expect(sent).toHaveLength(1);
});

test('a read with a waiting client skips the polls’ line', async () => {
  const { clock, sent, send } = openBulkhead(1);
  send(poll());
  send(poll());
  send(poll({}));
  await clock.advance(0);
  const priorities = sent.map(({ call }) => call.caller.priority);
  expect(priorities).toHaveLength(2);
  expect(priorities).toContain(undefined);
});

test('calls of the rest without a token wait for one another alone', async () => {
  const { clock, anonymous, sent, send } = openBulkhead(1);
  const call = (operation: OperationName, token: string | null): WireCall => ({
    ...poll(),
    operation,
    caller: { token },
  });
  send(call('login', null));
  send(call('forgotPassword', null));
  send(call('registerDevice', null));
  send(call('registerDevice', 'a token'));
  send(call('getSession', null));
  await clock.advance(0);
  expect(sent.map(({ call: { operation } }) => operation)).toEqual([
    'registerDevice',
    'getSession',
    'login',
  ]);
  expect(anonymous).toMatchObject({ taken: 1, waiting: 2 });
});
