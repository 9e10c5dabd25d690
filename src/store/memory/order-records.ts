import {
  closedReservation,
  isForgotten,
  type OrderRecord,
  type OrderRecords,
  RecordsForgottenError,
  toReservation,
} from '../order-records.ts';
import { createRecordTable, type RecordTableOptions } from './record-table.ts';

/** Order records that live as long as the process: for the sandbox, or where a restart may forget orders. */
export function createMemoryOrderRecords(options: RecordTableOptions): OrderRecords {
  const table = createRecordTable(options);
  return {
    async reserve(request) {
      const record = table.get(request.account, request.key);
      if (record) return { reserved: false, record };
      if (isForgotten(request.keyTime, table.rememberedMs)) throw new RecordsForgottenError();
      const reservation = toReservation(request);
      table.add(reservation);
      return { reserved: true, reservation };
    },
    async settle(reservation, outcome) {
      table.settle(reservation, outcome);
      return null;
    },
    async release(reservation) {
      table.release(reservation);
    },
    find: async (account, key) => table.get(account, key),
    async voidKey(request) {
      const { account, key, keyAgeMs } = request;
      const record = table.get(account, key);
      if (record) return { voided: false, record };
      table.addClosed(closedReservation(request), keyAgeMs);
      return { voided: true, record: table.get(account, key) as OrderRecord };
    },
    // It ends with its process.
    cutOff: async () => [],
    held: () => table.size(),
    degradedReason: () => (table.size() >= options.max ? 'all order records are in use' : null),
    gapReason: () => null,
    holdReason: () => null,
    async close() {},
  };
}
