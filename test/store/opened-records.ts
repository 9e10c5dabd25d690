import type { OrderRecords } from '../../src/store/order-records.ts';

/** Order records whose disposal closes them and their resources. */
export function withResources(
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

/** Order records with some methods replaced. */
export function withMethods(records: OrderRecords, methods: Partial<OrderRecords>): OrderRecords {
  const forwarding: OrderRecords = {
    reserve: (request) => records.reserve(request),
    settle: (reservation, outcome) => records.settle(reservation, outcome),
    release: (reservation) => records.release(reservation),
    find: (account, key) => records.find(account, key),
    voidKey: (key) => records.voidKey(key),
    cutOff: () => records.cutOff(),
    get status() {
      return records.status;
    },
    close: () => records.close(),
  };
  // Copies descriptors, so that a getter such as `status` stays a getter.
  return Object.defineProperties(forwarding, Object.getOwnPropertyDescriptors(methods));
}
