import type { Instrument, ShariaStatus } from '../../../gateway/operations/get-all-tickers.ts';
import { InputError } from '../../../lib/public-error.ts';
import type { InstrumentOrder } from './instrument-order.ts';

type Given<T> = T | null | undefined;

/** The arguments of the `instruments` field. */
export interface PageRequest {
  readonly first?: Given<number>;
  readonly after?: Given<string>;
  readonly last?: Given<number>;
  readonly before?: Given<string>;
  readonly filter?: Given<InstrumentFilter>;
  readonly orderBy?: Given<InstrumentOrder>;
}

/** A field that is null or missing does not filter. An empty list matches nothing. */
export interface InstrumentFilter {
  readonly search?: Given<string>;
  readonly ids?: Given<readonly string[]>;
  readonly sectors?: Given<readonly number[]>;
  readonly industries?: Given<readonly number[]>;
  readonly shariaStatuses?: Given<readonly ShariaStatus[]>;
  readonly sharia?: Given<boolean>;
  readonly delayed?: Given<boolean>;
  readonly pdt?: Given<boolean>;
}

const DEFAULT_COUNT = 50;
const MAX_COUNT = 500;

/** The requested part of a list: a number of items after or before a cursor, and the name of the cursor's argument. */
export function toWindow({ first, after, last, before }: PageRequest) {
  const backward = last != null || before != null;
  const forward = first != null || after != null;
  if (backward && forward) {
    const argument = last != null ? 'last' : 'before';
    throw new InputError(
      argument,
      `${argument} cannot be combined with first or after: a page has one direction.`,
    );
  }
  if (backward) {
    return { backward, count: count('last', last), cursor: before ?? null, argument: 'before' };
  }
  return { backward, count: count('first', first), cursor: after ?? null, argument: 'after' };
}

function count(argument: string, value: Given<number>): number {
  const wanted = value ?? DEFAULT_COUNT;
  if (wanted < 0 || wanted > MAX_COUNT) {
    throw new InputError(argument, `${argument} must be between 0 and ${MAX_COUNT}.`);
  }
  return wanted;
}

type Test = (instrument: Instrument) => boolean;

/** The field that each filter tests. */
const FILTERED = {
  ids: 'id',
  sectors: 'sector',
  industries: 'industry',
  shariaStatuses: 'shariaStatus',
  sharia: 'sharia',
  delayed: 'delayed',
  pdt: 'pdt',
} as const satisfies Record<Exclude<keyof InstrumentFilter, 'search'>, keyof Instrument>;

/** All filters except the search as one predicate; null without filters. */
export function toTest(filter: InstrumentFilter): Test | null {
  const tests = (Object.keys(FILTERED) as (keyof typeof FILTERED)[]).flatMap((name): Test[] => {
    const given = filter[name];
    if (given == null) return [];
    const field = FILTERED[name];
    if (typeof given === 'boolean') return [(instrument) => instrument[field] === given];
    const wanted = new Set<unknown>(given);
    return [(instrument) => wanted.has(instrument[field])];
  });
  return tests.length === 0 ? null : (instrument) => tests.every((test) => test(instrument));
}
