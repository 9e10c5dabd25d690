import type { Listing } from './listings.ts';

/** Orders of these instruments always behave as the symbol says. */
export const TEST_REJECT = 'TEST.REJECT';
export const TEST_UNKNOWN = 'TEST.UNKNOWN';
export const TEST_SLOW = 'TEST.SLOW';
export const TEST_EMPTY = 'TEST.EMPTY';

export const TEST_LISTINGS: readonly Listing[] = [
  listing(TEST_REJECT, 'Test: every order is refused'),
  listing(TEST_UNKNOWN, 'Test: the order counts, its answer is lost'),
  listing(TEST_SLOW, 'Test: the answer comes too late'),
  listing(TEST_EMPTY, 'Test: the answer is an empty object'),
];

export function isTestSymbol(symbol: string): boolean {
  return symbol.startsWith('TEST.');
}

function listing(symbol: string, name: string): Listing {
  return { kind: 'equity', symbol, name, price: 100, sharia: 'COMPLIANT', sector: 0, industry: 0 };
}
