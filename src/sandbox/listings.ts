import type { Kind } from './groups.ts';

/** The source data of an instrument, from which its catalog row is made. */
export interface Listing {
  readonly kind: Kind;
  readonly symbol: string;
  readonly name: string;
  readonly price: number;
  readonly sharia: 'QUESTIONABLE' | 'COMPLIANT' | 'NONCOMPLIANT';
  readonly sector: number;
  readonly industry: number;
}

const SHARIA = { c: 'COMPLIANT', n: 'NONCOMPLIANT', q: 'QUESTIONABLE' } as const;

type Row = readonly [
  kind: Kind,
  symbol: string,
  name: string,
  price: number,
  sharia: keyof typeof SHARIA,
  sector: number,
  industry: number,
];

// The demonstration accounts hold the instruments of the first rows. A small catalog leaves out the last rows.
const ROWS: readonly Row[] = [
  ['equity', 'AAPL', 'Apple Inc.', 228.4, 'c', 45, 452020],
  ['equity', 'BRK.B', 'Berkshire Hathaway Inc. Class B', 462.15, 'n', 40, 402030],
  ['forex', 'EURUSD', 'Euro / US Dollar', 1.0842, 'q', 0, 0],
  ['crypto', 'BTCUSD', 'Bitcoin / US Dollar', 67250.5, 'q', 0, 0],
  ['commodity', 'XAUUSD', 'Gold / US Dollar', 2412.3, 'c', 0, 0],
  ['index', 'US500', 'US 500 Index', 5432.1, 'n', 0, 0],
  ['equity', 'MSFT', 'Microsoft Corporation', 421.7, 'c', 45, 451030],
  ['equity', 'NVDA', 'NVIDIA Corporation', 124.6, 'c', 45, 453010],
  ['forex', 'USDJPY', 'US Dollar / Japanese Yen', 152.31, 'q', 0, 0],
  ['forex', 'GBPUSD', 'British Pound / US Dollar', 1.2714, 'q', 0, 0],
  ['equity', 'TSLA', 'Tesla, Inc.', 248.9, 'c', 25, 251020],
  ['equity', 'AMZN', 'Amazon.com, Inc.', 186.2, 'q', 25, 255030],
  ['equity', 'GOOGL', 'Alphabet Inc. Class A', 171.35, 'c', 50, 502030],
  ['equity', 'META', 'Meta Platforms, Inc.', 512.4, 'q', 50, 502030],
  ['index', 'DE40', 'Germany 40 Index', 18432.5, 'n', 0, 0],
  ['index', 'US100', 'US Tech 100 Index', 19240.3, 'n', 0, 0],
  ['index', 'JP225', 'Japan 225 Index', 38510, 'n', 0, 0],
  ['index', 'UK100', 'UK 100 Index', 8215.4, 'n', 0, 0],
  ['crypto', 'ETHUSD', 'Ethereum / US Dollar', 3120.75, 'q', 0, 0],
  ['commodity', 'XTIUSD', 'Crude Oil WTI', 78.42, 'c', 0, 0],
  ['commodity', 'XAGUSD', 'Silver / US Dollar', 28.94, 'c', 0, 0],
  ['forex', 'AUDUSD', 'Australian Dollar / US Dollar', 0.6621, 'q', 0, 0],
  ['forex', 'USDCHF', 'US Dollar / Swiss Franc', 0.8834, 'q', 0, 0],
  ['forex', 'USDCAD', 'US Dollar / Canadian Dollar', 1.3712, 'q', 0, 0],
  ['forex', 'EURGBP', 'Euro / British Pound', 0.8527, 'q', 0, 0],
  ['forex', 'EURJPY', 'Euro / Japanese Yen', 165.13, 'q', 0, 0],
  ['forex', 'GBPJPY', 'British Pound / Japanese Yen', 193.65, 'q', 0, 0],
  ['forex', 'USDSEK', 'US Dollar / Swedish Krona', 10.512, 'q', 0, 0],
  ['forex', 'USDTRY', 'US Dollar / Turkish Lira', 32.875, 'q', 0, 0],
  ['index', 'FR40', 'France 40 Index', 7512.6, 'n', 0, 0],
  ['index', 'US30', 'US 30 Index', 40120, 'n', 0, 0],
  ['index', 'AUS200', 'Australia 200 Index', 7964.5, 'n', 0, 0],
  ['crypto', 'SOLUSD', 'Solana / US Dollar', 148.32, 'q', 0, 0],
  ['crypto', 'XRPUSD', 'XRP / US Dollar', 0.5841, 'q', 0, 0],
  ['commodity', 'XBRUSD', 'Crude Oil Brent', 82.17, 'c', 0, 0],
  ['commodity', 'XNGUSD', 'Natural Gas', 2.418, 'c', 0, 0],
  ['equity', 'BRK.A', 'Berkshire Hathaway Inc. Class A', 693200, 'n', 40, 402030],
  ['equity', 'JPM', 'JPMorgan Chase & Co.', 209.8, 'n', 40, 401010],
  ['equity', 'V', 'Visa Inc. Class A', 268.9, 'n', 40, 402010],
  ['equity', 'MA', 'Mastercard Incorporated Class A', 451.6, 'n', 40, 402010],
  ['equity', 'JNJ', 'Johnson & Johnson', 157.2, 'c', 35, 352020],
  ['equity', 'XOM', 'Exxon Mobil Corporation', 114.6, 'c', 10, 101020],
  ['equity', 'KO', 'The Coca-Cola Company', 66.42, 'c', 30, 302010],
  ['equity', 'WMT', 'Walmart Inc.', 69.75, 'q', 30, 301010],
  ['equity', 'PG', 'The Procter & Gamble Company', 166.2, 'c', 30, 303010],
  ['equity', 'DIS', 'The Walt Disney Company', 96.3, 'n', 50, 502020],
  ['equity', 'NFLX', 'Netflix, Inc.', 648.2, 'n', 50, 502020],
  ['equity', 'AMD', 'Advanced Micro Devices, Inc.', 158.3, 'c', 45, 453010],
  ['equity', 'BA', 'The Boeing Company', 181.4, 'n', 20, 201010],
  ['equity', 'SAP.DE', 'SAP SE', 186.32, 'c', 45, 451030],
  ['equity', 'MC.PA', 'LVMH Moet Hennessy Louis Vuitton SE', 702.4, 'n', 25, 252030],
  ['equity', 'VOD.L', 'Vodafone Group Plc', 0.7124, 'q', 50, 501020],
  ['equity', 'NESN.SW', 'Nestle S.A.', 92.86, 'c', 30, 302020],
];

/** Only the professional group trades these. */
const PRO_ROWS: readonly Row[] = [
  ['index', 'ES.FUT', 'US 500 Futures', 5448.25, 'n', 0, 0],
  ['index', 'VIX', 'Volatility Index', 14.82, 'n', 0, 0],
];

export const BASE_LISTINGS: readonly Listing[] = ROWS.map(toListing);
export const PRO_LISTINGS: readonly Listing[] = PRO_ROWS.map(toListing);

function toListing([kind, symbol, name, price, sharia, sector, industry]: Row): Listing {
  return { kind, symbol, name, price, sharia: SHARIA[sharia], sector, industry };
}
