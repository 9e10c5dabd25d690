import type { Clock } from '../../lib/clock.ts';
import { Limiter } from '../../lib/limits/limiter.ts';
import { type Limit, type LimitName, type LimitTable, limitTable } from '../../lib/limits/table.ts';
import { createScriptedClock } from './scripted-clock.ts';

/** The limits of an installation that sets none. */
export const DEFAULT_LIMITS: LimitTable = limitTable({
  rateLimitPerMinute: 1_200,
  costLimitPerMinute: 5_000_000,
  loginLimitPerMinute: 10,
  maxCost: 250_000,
});

/** A limit of so many, whoever it is charged to. */
export function limited<Name extends LimitName>(name: Name, most: number): Pick<LimitTable, Name> {
  const row = DEFAULT_LIMITS[name];
  const numbers = Object.keys(row.most).map((whom) => [whom, most]);
  const limit: Limit = { ...row, most: Object.fromEntries(numbers) };
  return { [name]: limit } as Pick<LimitTable, Name>;
}

/** All limits, of which one is so many and none refills. */
export function onlyLimited(name: LimitName, most: number): LimitTable {
  return withoutRefills({ ...DEFAULT_LIMITS, ...limited(name, most) });
}

/** The same limits, which refill so slowly that no test notices, however busy the machine is. */
export function withoutRefills<Table extends Partial<LimitTable>>(table: Table): Table {
  const rows = Object.entries(table).map(([name, row]) => {
    return [name, { ...row, refills: row.refills / 1e9 }];
  });
  return Object.fromEntries(rows) as Table;
}

export function createTestLimiter(
  limits: Partial<LimitTable> = {},
  clock: Clock = createScriptedClock(),
): Limiter {
  return new Limiter({ ...DEFAULT_LIMITS, ...limits }, clock);
}
