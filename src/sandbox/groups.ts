import { type SentInstrument, SWAP } from '../gateway/operations/get-all-tickers.ts';
import { round } from './money.ts';

export type Kind = 'equity' | 'forex' | 'index' | 'crypto' | 'commodity';

/** An account group: which instruments its users may trade, and on what terms. */
export interface Group {
  readonly name: string;
  readonly leverage: Readonly<Record<Kind, number>>;
  /** Multiplies the standard overnight rates. */
  readonly swapFactor: number;
}

export const STANDARD = 'standard-usd';
export const PRO = 'pro-usd';

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
];

export function findGroup(name: string): Group | undefined {
  return GROUPS.find((group) => group.name === name);
}

/** The instrument with the group's leverage and overnight rates. */
export function withTermsOf(
  { leverage, swapFactor }: Group,
  kind: Kind,
  instrument: SentInstrument,
): SentInstrument {
  const { swap } = instrument;
  const terms = { ...instrument, leverage: leverage[kind] };
  if (swap == null) return terms;
  const { long, short } = SWAP.names;
  const rates = {
    [long]: round(swap[long] * swapFactor, 4),
    [short]: round(swap[short] * swapFactor, 4),
  };
  return { ...terms, swap: { ...swap, ...rates } };
}
