import { expect, test } from 'vitest';
import type { LimitOrder, MarketOrder } from '../../src/gateway/model.ts';
import { answer, startScriptedGateway } from '../support/scripted-gateway.ts';
import { anyCaller, limitOrder, marketOrder, openClient } from './open-client.ts';

const ACCEPTED = { success: true, orderId: '1', err: '', message: '' };

async function bodyOf(
  place: (client: ReturnType<typeof openClient>['client']) => Promise<unknown>,
): Promise<unknown> {
  await using gateway = await startScriptedGateway((socket) => socket.write(answer(200, ACCEPTED)));
  await using open = openClient(gateway.url);
  await place(open.client);
  return JSON.parse(String(gateway.requests[0]?.body));
}

const UNITS = { symbol: 'AAPL', direction: 'buy', type: 'unit', amount: 1 };
const MONEY = { ...UNITS, type: 'amount', amount: 250.5 };

test.each<[string, Partial<MarketOrder>, object]>([
  ['units', {}, UNITS],
  ['money', { size: { by: 'amount', value: 250.5 } }, MONEY],
  ['the other side', { side: 'SELL' }, { ...UNITS, direction: 'sell' }],
  ['a price', { price: 99 }, { ...UNITS, price: 99 }],
  [
    'levels by price',
    { stopLoss: { by: 'price', value: 90 }, takeProfit: { by: 'price', value: 110 } },
    { ...UNITS, sl: 90, tp: 110 },
  ],
  [
    'levels by money',
    { stopLoss: { by: 'amount', value: 5 }, takeProfit: { by: 'amount', value: 6 } },
    { ...UNITS, slAmount: 5, tpAmount: 6 },
  ],
  ['a comment', { comment: 'mine' }, { ...UNITS, comment: 'mine' }],
])('a market order with %s names what was asked for, and nothing else', async (_, change, body) => {
  const order = { ...marketOrder, ...change };
  expect(await bodyOf((client) => client.openPosition(anyCaller, order))).toEqual(body);
});

const LIMIT = { symbol: 'AAPL', direction: 'sell', amount: 100, price: 500 };

test.each<[string, Partial<LimitOrder>, object]>([
  ['no more than it needs', {}, LIMIT],
  ['the other side', { side: 'BUY' }, { ...LIMIT, direction: 'buy' }],
  [
    'levels and a comment',
    { stopLoss: 490, takeProfit: 510, comment: 'mine' },
    { ...LIMIT, sl: 490, tp: 510, comment: 'mine' },
  ],
])('a limit order with %s names what was asked for, and nothing else', async (_, change, body) => {
  const order = { ...limitOrder, ...change };
  expect(await bodyOf((client) => client.placeLimitOrder(anyCaller, order))).toEqual(body);
});
