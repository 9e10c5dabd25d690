import { judgeOrder } from '../../src/domain/trading/outcome.ts';
import { OPERATIONS } from '../../src/gateway/operations.ts';
import { limitOrder } from '../gateway/open-client.ts';
import { mutation, type OperationCase, ORDER } from './operation-case.ts';

export const placeLimitOrder: OperationCase = {
  ...ORDER,
  call: async (client, caller) =>
    judgeOrder(
      'placeLimitOrder',
      await client.order(caller, OPERATIONS.placeLimitOrder, limitOrder),
    ),
  ask: (gateway, viewer) =>
    gateway.order(viewer, { operation: 'placeLimitOrder', order: limitOrder, sendBeforeMs: null }),
  field: 'placeLimitOrder',
  document: mutation(
    'placeLimitOrder',
    `symbol: "AAPL", side: BUY, amount: 100, price: 150, stopLoss: 0, takeProfit: 200
     comment: "c", idempotencyKey: $key`,
  ),
};
