import { itKeepsOrderRecords } from './order-records-contract.ts';
import { itIsSettledByOperators } from './settlement-contract.ts';
import { itVoidsKeys } from './void-contract.ts';

/** All tests that a store of order records must pass. With `openShared` also the tests about operators. */
export function itIsAStoreOfOrderRecords(
  open: Parameters<typeof itVoidsKeys>[0],
  openShared?: Parameters<typeof itIsSettledByOperators>[0],
): void {
  itKeepsOrderRecords(open);
  itVoidsKeys(open);
  if (openShared !== undefined) itIsSettledByOperators(openShared);
}
