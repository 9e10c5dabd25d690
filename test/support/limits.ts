import {
  TRADING_LIMITS,
  type TradingLimitName,
  type TradingLimitSettings,
} from '../../src/domain/auth/trading-limits.ts';
import {
  ENGINE_LIMITS,
  type EngineLimitName,
  type EngineLimitSettings,
} from '../../src/engine/index.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { type Limit, type Limits, limitsOf } from '../../src/lib/limits/limit.ts';
import { Limiter } from '../../src/lib/limits/limiter.ts';
import { createScriptedClock } from './scripted-clock.ts';

export type LimitName = EngineLimitName | TradingLimitName;
export type LimitTable = Limits<LimitName>;

export function limitTable(settings: EngineLimitSettings & TradingLimitSettings): LimitTable {
  return { ...limitsOf(ENGINE_LIMITS, settings), ...limitsOf(TRADING_LIMITS, settings) };
}

/** The limits of an installation without settings. */
export const DEFAULT_LIMITS = limitTable({
  rateLimitPerMinute: 1_200,
  loginLimitPerMinute: 10,
  maxCost: 65_000,
});

/** A limit of this maximum for every kind of client. */
export function limited<Name extends LimitName>(name: Name, max: number): Pick<LimitTable, Name> {
  const row = DEFAULT_LIMITS[name];
  const numbers = Object.keys(row.max).map((kind) => [kind, max]);
  const limit: Limit = { ...row, max: Object.fromEntries(numbers) };
  return { [name]: limit } as Pick<LimitTable, Name>;
}

/** The same limits, which refill too slowly for any test to notice. */
export function withoutRefills<Table extends Partial<LimitTable>>(table: Table): Table {
  const rows = Object.entries(table).map(([name, row]) => {
    return [name, { ...row, refills: row.refills / 1e9 }];
  });
  return Object.fromEntries(rows) as Table;
}

export function createTestLimiter(
  limits: Partial<LimitTable> = {},
  clock: Clock = createScriptedClock(),
): Limiter<LimitName> {
  return new Limiter({ ...DEFAULT_LIMITS, ...limits }, clock);
}
