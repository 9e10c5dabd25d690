import type { TimeUnit } from '../../gateway/wire/scalars.ts';
import type { CallReport } from './check-run.ts';
import type { TimeCounts } from './compare.ts';
import type { Finding } from './finding.ts';

const setting = 'GATEWAY_TIME_UNIT' as const;

const UNITS = { s: 'seconds', ms: 'milliseconds', us: 'microseconds' } as const;

/** Judges the unit of the gateway's times; `unit` is what is to be set, null where nothing is. */
export function timeFindings(
  times: TimeCounts | null,
  configured: TimeUnit,
): { readonly findings: readonly Finding[]; readonly unit: TimeUnit | null } {
  if (times === null) return { findings: [], unit: null };
  const found = (level: Finding['level'], text: string, unit: TimeUnit | null = null) => ({
    findings: [{ level, text, setting }],
    unit,
  });
  const [unit, ...others] = (['s', 'ms', 'us'] as const).filter((each) => times[each] > 0);
  if (unit === undefined) {
    return times.none > 0
      ? found('warning', 'Times are in no unit that can be recognized.')
      : found(
          'note',
          'There was no time to tell the unit by: check with an account that has positions.',
        );
  }
  const words = UNITS[unit];
  if (others.length > 0) {
    const mixed = `Some times are in ${words}, others in ${others.map((each) => UNITS[each]).join(' and ')}`;
    return configured === 'auto'
      ? found('warning', `${mixed}: auto reads them all.`)
      : found('problem', `${mixed}: only auto reads them all.`, 'auto');
  }
  if (configured === 'auto' || configured === unit) return { findings: [], unit: null };
  return unit === 'us'
    ? found('problem', `Times are in ${words}, which only auto reads.`, 'auto')
    : found('problem', `Times are in ${words}, and ${configured} reads them wrongly.`, unit);
}

/** Over all answers; null where none was compared. */
export function sumOfTimes(calls: readonly CallReport[]): TimeCounts | null {
  const all = calls.flatMap(({ operation, comparison }) =>
    comparison !== null && operation !== 'login' ? [comparison.times] : [],
  );
  if (all.length === 0) return null;
  const sum = (unit: keyof TimeCounts) => all.reduce((total, times) => total + times[unit], 0);
  return { s: sum('s'), ms: sum('ms'), us: sum('us'), zero: sum('zero'), none: sum('none') };
}
