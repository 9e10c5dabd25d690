import type { Instrument, ShariaStatus } from '../../gateway/model.ts';

type Given<T> = T | null | undefined;

/** A field that is null or left out does not filter; an empty list matches nothing. */
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

export type Test = (instrument: Instrument) => boolean;

/** All filters but the search as one predicate; null where nothing is filtered. */
export function toTest(filter: InstrumentFilter): Test | null {
  const tests = [
    oneOf(filter.ids, ({ id }) => id),
    oneOf(filter.sectors, ({ sector }) => sector),
    oneOf(filter.industries, ({ industry }) => industry),
    oneOf(filter.shariaStatuses, ({ shariaStatus }) => shariaStatus),
    equal(filter.sharia, ({ sharia }) => sharia),
    equal(filter.delayed, ({ delayed }) => delayed),
    equal(filter.pdt, ({ pdt }) => pdt),
  ].filter((test) => test !== null);
  const [only] = tests;
  if (tests.length <= 1) return only ?? null;
  return (instrument) => tests.every((test) => test(instrument));
}

function oneOf<T>(values: Given<readonly T[]>, read: (instrument: Instrument) => T): Test | null {
  if (values == null) return null;
  const wanted = new Set(values);
  return (instrument) => wanted.has(read(instrument));
}

function equal(value: Given<boolean>, read: (instrument: Instrument) => boolean): Test | null {
  return value == null ? null : (instrument) => read(instrument) === value;
}
