import type { WireInstrument } from '../gateway/operations/get-all-tickers.ts';
import { round } from './money.ts';

export type Kind = 'equity' | 'forex' | 'index' | 'crypto' | 'commodity';

/** An account group: which instruments its users may trade, and on what terms. */
export interface Group {
  readonly name: string;
  readonly leverage: Readonly<Record<Kind, number>>;
  /** Multiplies the standard overnight rates; null means no overnight rates. */
  readonly swapFactor: number | null;
}

export const STANDARD = 'standard-usd';
export const PRO = 'pro-usd';
/** Trading platforms nest groups with backslashes, so that the path parameter needs encoding. */
export const SWAP_FREE = 'retail\\swap-free usd';

const GROUPS: readonly Group[] = [
  {
    name: STANDARD,
    leverage: { forex: 30, index: 20, commodity: 10, equity: 5, crypto: 2 },
    swapFactor: 1,
  },
  {
    name: PRO,
    leverage: { forex: 500, index: 200, commodity: 100, equity: 20, crypto: 10 },
    swapFactor: 0.6,
  },
  {
    name: SWAP_FREE,
    leverage: { forex: 30, index: 20, commodity: 10, equity: 5, crypto: 2 },
    swapFactor: null,
  },
];

export function findGroup(name: string): Group | undefined {
  return GROUPS.find((group) => group.name === name);
}

export function onTermsOf(group: Group, kind: Kind, instrument: WireInstrument): WireInstrument {
  const { swap, ...rest } = instrument;
  const terms = { ...rest, leverage: group.leverage[kind] };
  if (swap == null || group.swapFactor === null) return terms;
  const { swapFactor } = group;
  const { long, short } = swap;
  return {
    ...terms,
    swap: { ...swap, long: round(long * swapFactor, 4), short: round(short * swapFactor, 4) },
  };
}
