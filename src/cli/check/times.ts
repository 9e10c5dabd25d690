import type { TimeCounts } from '../../gateway/interface/compare.ts';
import type { TimeUnit } from '../../gateway/wire/scalars.ts';
import type { CallReport } from './check-run.ts';
import type { Finding } from './finding.ts';

const setting = 'GATEWAY_TIME_UNIT' as const;

/** Judges the unit of the gateway's times; `unit` is what is to be set, null where nothing is. */
export function timeFindings(
  times: TimeCounts | null,
  configured: TimeUnit,
): { readonly findings: readonly Finding[]; readonly unit: 's' | 'ms' | null } {
  if (times === null) return { findings: [], unit: null };
  const found = (level: Finding['level'], text: string) => ({
    findings: [{ level, text, setting }],
    unit: null,
  });
  if (times.us > 0) {
    return found('problem', 'Times are in microseconds, which no value of the setting reads.');
  }
  if (times.s > 0 && times.ms > 0) {
    return configured === 'auto'
      ? found('warning', 'Some times are in seconds, others in milliseconds: auto reads both.')
      : found(
          'problem',
          'Some times are in seconds, others in milliseconds: only auto reads both.',
        );
  }
  const unit = times.s > 0 ? 's' : times.ms > 0 ? 'ms' : null;
  if (unit === null) {
    return times.none > 0
      ? found('warning', 'Times are in no unit that can be recognized.')
      : found(
          'note',
          'There was no time to tell the unit by: check with an account that has positions.',
        );
  }
  const words = unit === 's' ? 'seconds' : 'milliseconds';
  if (configured !== 'auto' && configured !== unit) {
    const text = `Times are in ${words}, and ${configured} reads them wrongly.`;
    return { findings: [{ level: 'problem', text, setting }], unit };
  }
  return { findings: [], unit: null };
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
