import type { OrderRecords } from '../../src/store/order-records.ts';

/** Order records that close with what they were opened on. */
export function disposed(
  records: OrderRecords,
  resources: AsyncDisposable,
): OrderRecords & AsyncDisposable {
  return Object.assign(records, {
    async [Symbol.asyncDispose]() {
      await records.close();
      await resources[Symbol.asyncDispose]();
    },
  });
}

/** Order records of which some methods are the test's own. */
export function changed(records: OrderRecords, change: Partial<OrderRecords>): OrderRecords {
  return {
    reserve: (request) => records.reserve(request),
    settle: (reservation, outcome, times) => records.settle(reservation, outcome, times),
    release: (reservation) => records.release(reservation),
    find: (account, key) => records.find(account, key),
    voidKey: (request) => records.voidKey(request),
    cutOff: () => records.cutOff(),
    held: () => records.held(),
    degradedReason: () => records.degradedReason(),
    gapReason: () => records.gapReason(),
    holdReason: () => records.holdReason(),
    close: () => records.close(),
    ...change,
  };
}
