import type { WireInstrument } from '../gateway/operations/get-all-tickers.ts';
import type { Kind } from './groups.ts';

/** The gateway's code for a margin that is calculated from the base currency alone, without the price. */
export const CALC_FOREX = 0;

/** The relative standard deviation of a price per tick. */
export const VOLATILITY: Readonly<Record<Kind, number>> = {
  equity: 8e-4,
  forex: 1e-4,
  index: 4e-4,
  crypto: 1.5e-3,
  commodity: 6e-4,
};

/** The properties that instruments of one kind share. */
interface Style {
  readonly text: string;
  readonly leverage: number;
  readonly calc: number;
  readonly min: number;
  readonly max: number;
  readonly swap: number;
  readonly digits: (price: number) => number;
  /** The hours of trading and of quotes, in UTC. */
  readonly hours: string[];
  /** Invented hours of an exchange, in its own `timezone`. They need not agree with `hours`. */
  readonly tradingHours: NonNullable<WireInstrument['tradingHours']>;
}

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri'];
const EVERY_DAY = ['Sun', ...WEEKDAYS, 'Sat'];
const days = (names: string[], hours: string) => names.map((day) => `${day} ${hours}`);

// All instruments of a kind share one object, so that a hundred thousand instruments fit in memory.
export const STYLES: Readonly<Record<Kind, Style>> = {
  equity: {
    text: 'Share, traded as a contract for difference.',
    leverage: 5,
    calc: 4,
    min: 0.01,
    max: 10_000,
    swap: 5.5,
    digits: (price) => (price < 10 ? 4 : 2),
    hours: days(WEEKDAYS, '14:30-21:00'),
    tradingHours: {
      ...tradingHours('America/New_York', WEEKDAYS, '09:30-16:00'),
      preMarket: days(WEEKDAYS, '04:00-09:30'),
      postMarket: days(WEEKDAYS, '16:00-20:00'),
    },
  },
  forex: {
    text: 'Currency pair.',
    leverage: 30,
    calc: CALC_FOREX,
    min: 1,
    max: 10_000_000,
    swap: 2.1,
    digits: () => 5,
    hours: days(WEEKDAYS, '00:00-24:00'),
    tradingHours: tradingHours('UTC', WEEKDAYS, '00:00-24:00'),
  },
  index: {
    text: 'Index, traded as a contract for difference.',
    leverage: 20,
    calc: 3,
    min: 0.1,
    max: 5_000,
    swap: 4.2,
    digits: () => 1,
    hours: days(WEEKDAYS, '01:00-24:00'),
    tradingHours: {
      ...tradingHours('Europe/London', WEEKDAYS, '08:00-16:30'),
      overnight: days(WEEKDAYS, '16:30-22:00'),
      otherExtended: days(WEEKDAYS, '01:00-08:00'),
    },
  },
  crypto: {
    text: 'Cryptocurrency, traded around the clock.',
    leverage: 2,
    calc: 4,
    min: 0.001,
    max: 1_000_000,
    swap: 18,
    digits: (price) => (price < 10 ? 5 : 2),
    hours: days(EVERY_DAY, '00:00-24:00'),
    tradingHours: tradingHours('UTC', EVERY_DAY, '00:00-24:00'),
  },
  commodity: {
    text: 'Commodity, traded as a contract for difference.',
    leverage: 10,
    calc: 4,
    min: 0.1,
    max: 50_000,
    swap: 3.4,
    digits: (price) => (price < 10 ? 4 : 2),
    hours: days(WEEKDAYS, '01:00-24:00'),
    tradingHours: tradingHours('America/Chicago', WEEKDAYS, '00:00-24:00'),
  },
};

function tradingHours(timezone: string, names: string[], hours: string) {
  return {
    timezone,
    regular: days(names, hours),
    preMarket: [],
    postMarket: [],
    overnight: [],
    otherExtended: [],
  };
}
