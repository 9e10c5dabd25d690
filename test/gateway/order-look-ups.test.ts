import { expect, test } from 'vitest';
import { judgeOrder } from '../../src/domain/trading/outcome.ts';
import type { OrderEnd } from '../../src/gateway/client.ts';
import { type LookUps, type OrderReply, order } from '../../src/gateway/define-operation.ts';
import type { Answer } from '../../src/gateway/exchange.ts';
import { bodyIn, submitted } from '../../src/gateway/operations/submitted.ts';
import type { Json } from '../../src/gateway/requests.ts';
import { accepted } from '../support/ask-gateway.ts';
import { eventually } from '../support/eventually.ts';
import { answer, type ScriptedRequest, startScriptedGateway } from '../support/scripted-gateway.ts';
import { anyCaller, openClient } from './open-client.ts';

const ANY_ANSWER = { kind: 'any' } as const;

/** An order of a gateway other than ours. That gateway answers 202, and a look-up returns the outcome later. */
function slowOrder(reply: Reply, trade = (body: Json) => ({ body })) {
  return order({
    name: 'openPosition',
    number: 4,
    calls: {
      trade: { method: 'POST', path: '/orders', answer: ANY_ANSWER },
      status: { method: 'GET', path: '/orders/{id}', answer: ANY_ANSWER },
    },
    trade,
    reply,
  });
}
type Reply = (answer: Answer, lookUps: LookUps<'status'>) => OrderReply | Promise<OrderReply>;

/** After a 202, looks the order up until it is filled or rejected. */
const lookUpAfter202: Reply = async (reply, lookUps) => {
  if (reply.status !== 202) return submitted(reply);
  for (;;) {
    const found = await lookUps.send('status', { path: { id: 'o-7' } });
    const { state, orderId = null, reason = null } = bodyIn(found);
    if (state === 'FILLED' || state === 'REJECTED') {
      const success = state === 'FILLED';
      const outcome = { success, orderId: String(orderId), error: String(reason) };
      return { answer: found, ...outcome, namesOrder: true, message: null };
    }
    await lookUps.pause(5);
  }
};

type Script = (request: ScriptedRequest, lookUps: number) => Buffer | null;

/** The outcome of an order, followed by its id or its error if there is one. */
function wordsOf(end: OrderEnd): string {
  try {
    const judged = judgeOrder('openPosition', end);
    if (judged.kind === 'accepted') return `accepted ${judged.orderId}`;
    return 'error' in judged ? `${judged.kind} ${judged.error}` : judged.kind;
  } catch (error) {
    return String(error);
  }
}

/** Sends one order. If the script returns null, the gateway does not answer. */
async function place(operation: ReturnType<typeof slowOrder>, script: Script, timeoutMs = 2_000) {
  let lookUps = 0;
  await using gateway = await startScriptedGateway((socket, request) => {
    if (request.method === 'GET') lookUps += 1;
    const bytes = script(request, lookUps);
    if (bytes !== null) socket.write(bytes);
  });
  const failures: string[] = [];
  const late: string[] = [];

  await using open = openClient(gateway.url, {
    orderTimeoutMs: timeoutMs,
    onOrderFailed: (_operation, error) => failures.push(String(error)),
  });
  const onLate = (each: OrderEnd) => late.push(wordsOf(each));
  const end = await open.client.order(anyCaller, operation, {}, { onLate });
  const trades = gateway.requests.filter(({ method }) => method === 'POST').length;
  return { words: wordsOf(end), failures, late, trades };
}

const answer202 = answer(202, { ticket: 'o-7' });
const state = (name: string, more: object = {}) => answer(200, { state: name, ...more });

test.each<[string, Script, string]>([
  ['is filled', () => state('FILLED', { orderId: 'o-7' }), 'accepted o-7'],
  [
    'is filled later',
    (_, lookUps) => state(lookUps < 4 ? 'OPEN' : 'FILLED', { orderId: 'o-7' }),
    'accepted o-7',
  ],
  [
    'is rejected, without keeping its id',
    () => state('REJECTED', { orderId: 'o-7', reason: 'MARGIN' }),
    'rejected MARGIN',
  ],
  [
    'cannot be looked up',
    () => answer(404, { error: 'NONE', message: 'no such order' }),
    'unknown',
  ],
])(
  'an order that is answered by a 202 and %s has the outcome of its look-ups',
  async (_, script, words) => {
    const order = await place(slowOrder(lookUpAfter202), (request, lookUps) =>
      request.method === 'POST' ? answer202 : script(request, lookUps),
    );
    expect([order.words, order.trades, order.late]).toEqual([words, 1, []]);
  },
);

test('an answer other than 202 is judged like that of any order', async () => {
  const order = await place(slowOrder(lookUpAfter202), () => answer(200, accepted('o-1')));
  expect([order.words, order.trades]).toEqual(['accepted o-1', 1]);
});

/** Places an order that is unknown at its deadline, and calls `answerLate`. Returns the outcomes after the deadline. */
async function lateWords(url: string, answerLate: () => void): Promise<readonly string[]> {
  await using open = openClient(url, { orderTimeoutMs: 150 });
  const late: string[] = [];
  const onLate = (each: OrderEnd) => late.push(wordsOf(each));
  const end = await open.client.order(anyCaller, slowOrder(lookUpAfter202), {}, { onLate });
  expect(wordsOf(end)).toBe('unknown');
  answerLate();
  await eventually(() => expect(late).toHaveLength(1));
  return late;
}

test('an answer to the trading call after the deadline settles an unknown order', async () => {
  let answerNow = () => {};
  await using gateway = await startScriptedGateway((socket) => {
    answerNow = () => socket.write(answer(200, accepted('o-1')));
  });
  expect(await lateWords(gateway.url, () => answerNow())).toEqual(['accepted o-1']);
});

test('a look-up that is answered after the deadline settles an unknown order', async () => {
  let isFilled = false;
  await using gateway = await startScriptedGateway((socket, { method }) => {
    const status = state(isFilled ? 'FILLED' : 'OPEN', { orderId: 'o-7' });
    socket.write(method === 'POST' ? answer202 : status);
  });
  const late = await lateWords(gateway.url, () => {
    isFilled = true;
  });
  expect(late).toEqual(['accepted o-7']);
});

const fault = () => {
  throw new Error('a fault');
};

test.each<[string, ReturnType<typeof slowOrder>, string, number]>([
  ['throws before the order is sent', slowOrder(submitted, fault), 'never sent', 0],
  ['throws after the answer', slowOrder(fault), 'unknown', 1],
  [
    // The types forbid this call, so it needs a cast.
    'looks up by the call that trades',
    slowOrder(async (_, lookUps) => submitted(await lookUps.send('trade' as 'status', {}))),
    'unknown',
    1,
  ],
  [
    'looks up by an unsafe path value',
    slowOrder(async (_, lookUps) =>
      submitted(await lookUps.send('status', { path: { id: '..' } })),
    ),
    'unknown',
    1,
  ],
  [
    'returns a look-up without an outcome',
    slowOrder(async (_, lookUps) => submitted(await lookUps.send('status', { path: { id: '1' } }))),
    'unknown',
    1,
  ],
])(
  'an order whose definition %s is reported correctly, and is sent at most once',
  async (_, operation, words, trades) => {
    const order = await place(operation, ({ method }) =>
      method === 'POST' ? answer202 : state('OPEN'),
    );
    expect(order.words).toContain(words);
    expect([order.trades, order.failures.length]).toEqual([trades, 1]);
  },
);

test('an order without an answer is unknown, even if its definition could look it up', async () => {
  const order = await place(slowOrder(lookUpAfter202), () => null, 100);
  expect([order.words, order.trades, order.failures]).toEqual(['unknown', 1, []]);
});
