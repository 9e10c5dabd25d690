import type { OrderRecord, OrderRecords, RecordedOutcome } from '../../src/store/order-records.ts';

/** An outcome as the version before reads it, whatever else is in it. */
export function asFormerOutcome(outcome: RecordedOutcome | null): RecordedOutcome | null {
  if (outcome?.kind !== 'rejected') return outcome;
  const { kind, error, message } = outcome;
  return { kind, error, message };
}

/** Records as a replica of the version before reads them, which knows of no closed keys. */
export function asFormer(records: OrderRecords): OrderRecords {
  const read = (record: OrderRecord): OrderRecord => ({
    ...record,
    outcome: asFormerOutcome(record.outcome),
  });
  return {
    ...records,
    async reserve(request) {
      const answer = await records.reserve(request);
      return answer.reserved ? answer : { reserved: false, record: read(answer.record) };
    },
    async find(login, key) {
      const record = await records.find(login, key);
      return record && read(record);
    },
    voidKey: () => Promise.reject(new Error('the version before closes no keys')),
  };
}
