import { expect, test } from 'vitest';
import { judgeOrder } from '../../src/domain/trading/outcome.ts';
import { type LookUps, type OrderReply, order } from '../../src/gateway/define-operation.ts';
import type { Answer } from '../../src/gateway/exchange.ts';
import { bodyIn, submitted } from '../../src/gateway/operations/submitted.ts';
import type { OrderEnd } from '../../src/gateway/order-calls.ts';
import { eventually } from '../support/eventually.ts';
import { answer, type ScriptedRequest, startScriptedGateway } from '../support/scripted-gateway.ts';
import { anyCaller, openClient } from './open-client.ts';

const STATUS = { kind: 'any' } as const;

/** An order of another gateway: it answers 202, and a look-up returns the outcome. */
function slowOrder(reply: Reply, trade = (body: object) => ({ body })) {
  return order({
    name: 'openPosition',
    number: 4,
    calls: {
      trade: { method: 'POST', path: '/orders', answer: STATUS },
      status: { method: 'GET', path: '/orders/{id}', answer: STATUS },
    },
    trade,
    reply,
  });
}
type Reply = (answer: Answer, lookUps: LookUps<'status'>) => OrderReply | Promise<OrderReply>;

const lookingUp: Reply = async (taken, lookUps) => {
  if (taken.status !== 202) return submitted(taken);
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

/** Sends one order. If the script returns null, the gateway does not answer. */
async function placed(operation: ReturnType<typeof slowOrder>, script: Script, timeoutMs = 2_000) {
  let lookUps = 0;
  await using gateway = await startScriptedGateway((socket, request) => {
    if (request.method === 'GET') lookUps += 1;
    const bytes = script(request, lookUps);
    if (bytes !== null) socket.write(bytes);
  });
  const failures: string[] = [];
  const late: string[] = [];
  const wordsOf = (end: OrderEnd) => {
    try {
      const { kind, ...more } = judgeOrder('openPosition', end);
      return `${kind} ${'orderId' in more ? more.orderId : 'error' in more ? more.error : ''}`.trim();
    } catch (error) {
      return String(error);
    }
  };
  await using open = openClient(gateway.url, {
    orderTimeoutMs: timeoutMs,
    onOrderFailed: (_operation, error) => failures.push(String(error)),
  });
  const onLate = (each: OrderEnd) => late.push(wordsOf(each));
  const end = await open.client.order(anyCaller, operation, {}, { onLate });
  const trades = gateway.requests.filter(({ method }) => method === 'POST').length;
  return { words: wordsOf(end), failures, late, trades };
}

const taken = answer(202, { ticket: 'o-7' });
const state = (name: string, more: object = {}) => answer(200, { state: name, ...more });

test.each<[string, Script, string]>([
  ['fills', (_, _lookUps) => state('FILLED', { orderId: 'o-7' }), 'accepted o-7'],
  ['fills later', (_, n) => state(n < 4 ? 'OPEN' : 'FILLED', { orderId: 'o-7' }), 'accepted o-7'],
  [
    'is rejected, and loses its number',
    () => state('REJECTED', { orderId: 'o-7', reason: 'MARGIN' }),
    'rejected MARGIN',
  ],
  [
    'cannot be looked up',
    () => answer(404, { error: 'NONE', message: 'no such order' }),
    'unknown',
  ],
])(
  'an order that is answered by a 202 and %s is settled by its look-ups',
  async (_, script, words) => {
    const order = await placed(slowOrder(lookingUp), (request, n) =>
      request.method === 'POST' ? taken : script(request, n),
    );
    expect([order.words, order.trades, order.late]).toEqual([words, 1, []]);
  },
);

test('an answer other than 202 is judged like that of any order', async () => {
  const order = await placed(slowOrder(lookingUp), () =>
    answer(200, { success: true, orderId: 'o-1' }),
  );
  expect([order.words, order.trades]).toEqual(['accepted o-1', 1]);
});

test('an answer to the trading call after the deadline settles an unknown order', async () => {
  let answerNow = () => {};
  await using gateway = await startScriptedGateway((socket) => {
    answerNow = () => socket.write(answer(200, { success: true, orderId: 'o-1' }));
  });
  await using open = openClient(gateway.url, { orderTimeoutMs: 150 });
  const late: OrderEnd[] = [];
  const onLate = (each: OrderEnd) => late.push(each);
  const end = await open.client.order(anyCaller, slowOrder(lookingUp), {}, { onLate });
  expect(judgeOrder('openPosition', end).kind).toBe('unknown');
  answerNow();
  await eventually(() => expect(late).toHaveLength(1));
  const judged = late.map((each) => judgeOrder('openPosition', each));
  expect(judged).toMatchObject([{ kind: 'accepted', orderId: 'o-1' }]);
});

test('a look-up that is answered after the deadline settles an unknown order', async () => {
  let isOver = false;
  await using gateway = await startScriptedGateway((socket, { method }) => {
    socket.write(method === 'POST' ? taken : state(isOver ? 'FILLED' : 'OPEN', { orderId: 'o-7' }));
  });
  await using open = openClient(gateway.url, { orderTimeoutMs: 150 });
  const late: OrderEnd[] = [];
  const onLate = (each: OrderEnd) => late.push(each);
  const end = await open.client.order(anyCaller, slowOrder(lookingUp), {}, { onLate });
  expect(judgeOrder('openPosition', end).kind).toBe('unknown');
  isOver = true;
  await eventually(() => expect(late).toHaveLength(1));
  expect(late.map((each) => judgeOrder('openPosition', each).kind)).toEqual(['accepted']);
});

const fault = () => {
  throw new Error('a fault');
};

test.each<[string, ReturnType<typeof slowOrder>, string, number]>([
  ['throws before the order is sent', slowOrder(submitted, fault), 'never sent', 0],
  ['throws after the answer', slowOrder(fault), 'unknown', 1],
  [
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
  'an order whose file %s is reported correctly, and is sent at most once',
  async (_, operation, words, trades) => {
    const order = await placed(operation, ({ method }) =>
      method === 'POST' ? taken : state('OPEN'),
    );
    expect(order.words).toContain(words);
    expect([order.trades, order.failures.length]).toEqual([trades, 1]);
  },
);

test('an order without an answer is unknown, even if its file could look it up', async () => {
  const order = await placed(slowOrder(lookingUp), () => null, 100);
  expect([order.words, order.trades, order.failures]).toEqual(['unknown', 1, []]);
});
