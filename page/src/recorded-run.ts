import run from '../recorded-run.json' with { type: 'json' };
import type { Mark } from './lanes/mark.ts';
import { SPAN_MS } from './look-back.ts';
import type { Way } from './start-screen.ts';

/** A minute of this page and its comparison, as `npm run docs -- screenshots` has recorded them where the gateway answers. */
export interface RecordedRun {
  readonly recordedAt: string;
  readonly comparison: { readonly rest: Way; readonly graph: Pick<Way, 'calls'> };
  /** Marks that differ only in when they were and how long. */
  readonly groups: readonly (Pick<Mark, 'lane' | 'kind' | 'text'> & {
    readonly moments: readonly (readonly number[])[];
  })[];
}

export const { recordedAt, comparison, groups } = run as unknown as RecordedRun;
const MARKS = groups.flatMap(({ moments, ...mark }) =>
  moments.map(([atMs = 0, ms = 0]) => ({ ...mark, atMs, ms })),
);

/** The marks that are due after one moment and until another: the run is played again and again, as if it had been once already. */
export function recordedBetween(fromMs: number, toMs: number): readonly Mark[] {
  return MARKS.map((mark) => ({ ...mark, atMs: toMs - ((toMs - mark.atMs) % SPAN_MS) })).filter(
    ({ atMs }) => atMs > fromMs,
  );
}
