import { judgeOrder } from '../../src/domain/trading/outcome.ts';
import { OPERATIONS } from '../../src/gateway/operations.ts';
import { marketOrder } from '../gateway/open-client.ts';
import { mutation, type OperationCase, ORDER } from './operation-case.ts';

export const openPosition: OperationCase = {
  ...ORDER,
  call: async (client, caller) =>
    judgeOrder('openPosition', await client.order(caller, OPERATIONS.openPosition, marketOrder)),
  ask: (gateway, viewer) =>
    gateway.order(viewer, { operation: 'openPosition', order: marketOrder, sendBeforeMs: null }),
  field: 'placeOrder',
  document: mutation(
    'placeOrder',
    `symbol: "AAPL", side: SELL, kind: PENDING, size: { amount: 250.5 }, price: 99.5, stopLoss: { amount: 10 }
     takeProfit: { price: 1.25 }, comment: "c", idempotencyKey: $key`,
  ),
};
