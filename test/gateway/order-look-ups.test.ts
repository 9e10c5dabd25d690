import { expect, test } from 'vitest';
import { judgeOrder } from '../../src/domain/trading/outcome.ts';
import { order } from '../../src/gateway/define-operation.ts';
import { UnsafePathError } from '../../src/gateway/errors.ts';
import { bodyIn, settled, submitted } from '../../src/gateway/operations/submitted.ts';
import type { OrderCalls, OrderEnd } from '../../src/gateway/order-calls.ts';
import { eventually } from '../support/eventually.ts';
import { answer, type ScriptedRequest, startScriptedGateway } from '../support/scripted-gateway.ts';
import { anyCaller, openClient } from './open-client.ts';

const STATUS = { kind: 'any' } as const;

/** An order of another gateway: it answers 202, and a look-up returns the outcome. */
function slowOrder(run: Run) {
  return order({
    name: 'openPosition',
    number: 4,
    calls: {
      trade: { method: 'POST', path: '/orders', answer: STATUS },
      status: { method: 'GET', path: '/orders/{id}', answer: STATUS },
    },
    run,
  });
}
type Run = (
  calls: OrderCalls<'trade' | 'status'>,
  input: object,
) => Promise<ReturnType<typeof submitted>>;

const lookingUp: Run = async ({ send, pause }, input) => {
  const taken = await send('trade', { body: input });
  if (taken.status !== 202) return submitted(taken);
  for (;;) {
    const found = await send('status', { path: { id: 'o-7' } });
    const { state, orderId = null, reason = null } = bodyIn(found);
    if (state === 'FILLED') return settled(found, true, String(orderId));
    if (state === 'REJECTED') return settled(found, false, String(orderId), String(reason));
    await pause(5);
  }
};

type Reply = (request: ScriptedRequest, lookUps: number) => Buffer | null;

/** Sends one order. If the reply is null, the gateway does not answer. */
async function placed(run: Run, reply: Reply, timeoutMs = 2_000) {
  let lookUps = 0;
  await using gateway = await startScriptedGateway((socket, request) => {
    if (request.method === 'GET') lookUps += 1;
    const bytes = reply(request, lookUps);
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
  const end = await open.client.order(
    anyCaller,
    slowOrder(run),
    {},
    {
      onLate: (each) => late.push(wordsOf(each)),
    },
  );
  const trades = () => gateway.requests.filter(({ method }) => method === 'POST').length;
  return {
    words: wordsOf(end),
    failures,
    late,
    trades,
    wait: (what: () => void) => eventually(what),
    end,
  };
}

const taken = answer(202, { ticket: 'o-7' });
const state = (name: string, more: object = {}) => answer(200, { state: name, ...more });

test.each<[string, Reply, string]>([
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
  async (_, reply, words) => {
    const order = await placed(lookingUp, (request, n) =>
      request.method === 'POST' ? taken : reply(request, n),
    );
    expect([order.words, order.trades(), order.late]).toEqual([words, 1, []]);
  },
);

test('an answer other than 202 is judged like that of any order', async () => {
  const order = await placed(lookingUp, () => answer(200, { success: true, orderId: 'o-1' }));
  expect([order.words, order.trades()]).toEqual(['accepted o-1', 1]);
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
  const end = await open.client.order(
    anyCaller,
    slowOrder(lookingUp),
    {},
    {
      onLate: (each) => late.push(each),
    },
  );
  expect(judgeOrder('openPosition', end).kind).toBe('unknown');
  isOver = true;
  await eventually(() => expect(late).toHaveLength(1));
  expect(late.map((each) => judgeOrder('openPosition', each).kind)).toEqual(['accepted']);
});

test.each<[string, Run, string, number]>([
  ['throws before it trades', async () => Promise.reject(new Error('a fault')), 'never sent', 0],
  [
    'looks up by an unsafe path value before it trades',
    async ({ send }) => submitted(await send('status', { path: { id: '..' } })),
    'never sent',
    0,
  ],
  [
    'throws after the answer',
    async ({ send }) => {
      await send('trade', {});
      throw new Error('a fault');
    },
    'unknown',
    1,
  ],
  [
    'trades twice',
    async ({ send }) => {
      await send('trade', {});
      return submitted(await send('trade', {}));
    },
    'unknown',
    1,
  ],
  [
    'trades without awaiting the answer',
    async ({ send }) => {
      send('trade', {}).catch(() => {});
      return settled({} as never, true, 'o-9');
    },
    'unknown',
    1,
  ],
  [
    'returns a look-up without an outcome',
    async ({ send }) => {
      await send('trade', {});
      const found = await send('status', { path: { id: '1' } });
      return submitted(found);
    },
    'unknown',
    1,
  ],
])(
  'an order whose file %s is reported correctly, and is sent at most once',
  async (_, run, words, trades) => {
    const order = await placed(run, ({ method }) => (method === 'POST' ? taken : state('OPEN')));
    expect(order.words).toContain(words);
    expect([order.trades(), order.failures.length]).toEqual([trades, 1]);
    if (!order.end.sent && order.end.cause instanceof UnsafePathError) expect(trades).toBe(0);
  },
);

test('an order without an answer is unknown, even if its file could look it up', async () => {
  const order = await placed(lookingUp, () => null, 100);
  expect([order.words, order.trades(), order.failures]).toEqual(['unknown', 1, []]);
});
