import {
  collectDefaultMetrics,
  Counter as PromCounter,
  Gauge as PromGauge,
  type Histogram as PromHistogram,
  Registry as PromRegistry,
} from 'prom-client';
import { createDistribution } from './histogram.ts';

/** The values of each label, in the order of its name; every combination is a time series from the start. */
type Labels<Name extends string> = Readonly<Record<Name, readonly string[]>>;

/** A metric as the list of all metrics describes it. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labelNames: readonly string[];
}

/** One time series of a counter, which whoever counts keeps: it is there from the start, or Prometheus would miss its first increase. */
export interface Count {
  add(amount?: number): void;
}

/** One time series of a histogram. */
export interface Distribution {
  observe(value: number): void;
}

interface Family<Series> {
  /** The series of these values, in the order of the labels' names; made where it is new. */
  register(...values: readonly string[]): Series;
}

export type Histogram = Family<Distribution>;

/** Values that are read from their sources at each scrape. Without a source it has no series. */
export type Gauge = ReturnType<typeof sources>['gauge'];

/** Whether a cache had what was looked up. */
export interface CacheReads {
  readonly hit: Count;
  readonly miss: Count;
}

const PREFIX = 'trading_graph_';

/**
 * The metrics for operators. Labels come from fixed sets (operations, codes, outcomes), or from what the
 * gateway has confirmed, in a bounded number (groups): an identifier in a label would be a leak, and a new
 * time series for each user.
 */
export class Registry {
  readonly #prom = new PromRegistry();
  readonly #metrics: Metric[] = [];
  readonly contentType = this.#prom.contentType;

  /** `process_*` and `nodejs_*`, as ready-made dashboards know them; observers of the process are never given back. */
  countProcess(): void {
    collectDefaultMetrics({ register: this.#prom });
  }

  counter<const Name extends string = never>(
    name: string,
    help: string,
    labels: Labels<Name> = {} as Labels<Name>,
  ) {
    const tally = this.tally(name, help, ...Object.keys(labels));
    const { known, register } = family(labels, (values): Count => {
      // Handed over at a scrape: the library looks a series up by its labels each time.
      let count = 0;
      tally.from(() => count, ...values);
      return {
        add(amount = 1) {
          count += amount;
        },
      };
    });
    return {
      register,
      /** Counts where the labels' values are known already; nothing else makes a series. */
      add: (...values: readonly string[]) => known(values)?.add(),
    };
  }

  histogram<const Name extends string = never>(
    name: string,
    help: string,
    buckets: readonly number[],
    labels: Labels<Name> = {} as Labels<Name>,
  ): Histogram {
    const names = Object.keys(labels);
    const described = { ...this.#add('histogram', name, help, names), type: 'histogram' };
    const series: (() => object[])[] = [];
    const get = async () => ({ ...described, values: series.flatMap((samples) => samples()) });
    this.#prom.registerMetric({ name: described.name, get } as unknown as PromHistogram);
    return family(labels, (values): Distribution => {
      const shown = Object.fromEntries(names.map((label, at) => [label, values[at] ?? '']));
      const { observe, samples } = createDistribution(buckets);
      series.push(() => samples(described.name, shown));
      return { observe };
    });
  }

  gauge(name: string, help: string, ...labelNames: readonly string[]): Gauge {
    const { gauge, collected } = sources();
    new PromGauge({
      ...this.#add('gauge', name, help, labelNames),
      collect() {
        this.reset();
        // One without labels begins at 0 again.
        if (labelNames.length === 0) this.remove();
        for (const [value, ...values] of collected()) this.labels(...values).set(value);
      },
    });
    return gauge;
  }

  /** A counter whose source counts by itself. */
  tally(name: string, help: string, ...labelNames: readonly string[]): Gauge {
    const { gauge, collected } = sources();
    new PromCounter({
      ...this.#add('counter', name, help, labelNames),
      collect() {
        this.reset();
        for (const [value, ...values] of collected()) this.labels(...values).inc(value);
      },
    });
    return gauge;
  }

  /** All metrics of our own, in the order of registration. */
  get metrics(): readonly Metric[] {
    return this.#metrics;
  }

  text(): Promise<string> {
    return this.#prom.metrics();
  }

  /** The present values of one counter's or gauge's series, by the values of their labels. */
  async valuesOf(name: string): Promise<Readonly<Record<string, number>>> {
    const { values } = (await this.#prom.getSingleMetric(PREFIX + name)?.get()) ?? { values: [] };
    return Object.fromEntries(
      values.map(({ labels, value }) => [Object.values(labels).join(), value]),
    );
  }

  #add(type: Metric['type'], name: string, help: string, labelNames: readonly string[]) {
    const metric = { name: PREFIX + name, help, labelNames: [...labelNames] };
    this.#metrics.push({ ...metric, type });
    return { ...metric, registers: [this.#prom] };
  }
}

function family<Series>(
  labels: Labels<string>,
  make: (values: readonly string[]) => Series,
): Family<Series> & { known(values: readonly string[]): Series | undefined } {
  const series = new Map<string, Series>();
  const known = (values: readonly string[]) => series.get(values.join('\n'));
  const register = (...values: readonly string[]) => {
    const made = known(values) ?? make(values);
    series.set(values.join('\n'), made);
    return made;
  };
  for (const values of combinations(Object.values(labels))) register(...values);
  return { known, register };
}

function sources() {
  const single: { readonly read: () => number | null; readonly values: readonly string[] }[] = [];
  let each: () => Iterable<readonly [value: number, ...labels: string[]]> = () => [];
  const gauge = {
    /** Null at a scrape: there is nothing to measure now. */
    from(read: () => number | null, ...values: readonly string[]): void {
      single.push({ read, values });
    },
    /** Series that come and go, whose source bounds their number. */
    fromEach(read: typeof each): void {
      each = read;
    },
  };
  function* collected(): Iterable<readonly [number, ...string[]]> {
    yield* each();
    for (const { read, values } of single) {
      const value = read();
      if (value !== null) yield [value, ...values];
    }
  }
  return { gauge, collected };
}

/** Every combination of the labels' values. */
function combinations(lists: readonly (readonly string[])[]): string[][] {
  return lists.reduce<string[][]>(
    (found, list) => found.flatMap((values) => list.map((value) => [...values, value])),
    [[]],
  );
}
