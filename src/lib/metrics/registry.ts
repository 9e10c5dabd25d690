import {
  collectDefaultMetrics,
  type Metric as PromMetric,
  Registry as PromRegistry,
} from 'prom-client';

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

/** A value as the library writes it; of a histogram with the name of its part. */
interface Sample {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

interface Family<Series> {
  /** The series of these values, in the order of the labels' names; made where it is new. */
  register(...values: readonly string[]): Series;
}

export type Histogram = Family<Distribution>;

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
    // Gauges named like counters, each a sum of another one here: promtool refuses the names.
    for (const kind of ['handles', 'requests', 'resources']) {
      this.#prom.removeSingleMetric(`nodejs_active_${kind}_total`);
    }
  }

  counter<const Name extends string = never>(
    name: string,
    help: string,
    labels: Labels<Name> = {} as Labels<Name>,
  ) {
    const tally = this.tally(name, help, ...Object.keys(labels));
    const { known, register } = family(labels, (values): Count => {
      // Handed over at a scrape.
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
      /** Counts where the labels' values are known already, and returns whether they are; nothing else makes a series. */
      add(...values: readonly string[]): boolean {
        const count = known(values);
        count?.add();
        return count !== undefined;
      },
    };
  }

  histogram<const Name extends string = never>(
    name: string,
    help: string,
    buckets: readonly number[],
    labels: Labels<Name> = {} as Labels<Name>,
  ): Histogram {
    const names = Object.keys(labels);
    const series: (() => readonly Sample[])[] = [];
    const whole = PREFIX + name;
    this.#add('histogram', name, help, names, () => series.flatMap((each) => each()));
    return family(labels, (values): Distribution => {
      const shown = labelled(names, values);
      // The last is of what exceeds every bound.
      const counts = [...buckets.map(() => 0), 0];
      let sum = 0;
      series.push(() => {
        let count = 0;
        const cumulative = counts.map((ofOne, at) => {
          count += ofOne;
          const le = buckets[at] ?? '+Inf';
          return { metricName: `${whole}_bucket`, labels: { le, ...shown }, value: count };
        });
        const total = { metricName: `${whole}_count`, labels: shown, value: count };
        return [...cumulative, { metricName: `${whole}_sum`, labels: shown, value: sum }, total];
      });
      return {
        observe(value) {
          let at = 0;
          while (at < buckets.length && value > (buckets[at] as number)) at += 1;
          counts[at] = (counts[at] as number) + 1;
          sum += value;
        },
      };
    });
  }

  /** Values that are read from their sources at each scrape. Without a source it has no series. */
  gauge(name: string, help: string, ...labelNames: readonly string[]) {
    return this.#read('gauge', name, help, labelNames);
  }

  /** A counter whose source counts by itself. */
  tally(name: string, help: string, ...labelNames: readonly string[]) {
    return this.#read('counter', name, help, labelNames);
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

  #read(type: 'counter' | 'gauge', name: string, help: string, labelNames: readonly string[]) {
    const sources: (() => Iterable<readonly [value: number, ...labels: string[]]>)[] = [];
    // Such a counter is there from the start, whether something counts or not.
    const isAlone = type === 'counter' && labelNames.length === 0;
    this.#add(type, name, help, labelNames, () => {
      const read =
        sources.length === 0 && isAlone ? [[0] as const] : sources.flatMap((each) => [...each()]);
      return read.map(([value, ...values]) => ({ value, labels: labelled(labelNames, values) }));
    });
    return {
      /** Null at a scrape: there is nothing to measure now. */
      from(read: () => number | null, ...values: readonly string[]): void {
        sources.push(() => {
          const value = read();
          return value === null ? [] : [[value, ...values]];
        });
      },
      /** Series that come and go, whose source bounds their number. */
      fromEach(read: (typeof sources)[0]): void {
        sources.push(read);
      },
    };
  }

  /** The library's own metrics look a series up by its labels each time. */
  #add(
    type: Metric['type'],
    name: string,
    help: string,
    labelNames: readonly string[],
    read: () => readonly Sample[],
  ): void {
    const metric = { name: PREFIX + name, help, type, labelNames: [...labelNames] };
    this.#metrics.push(metric);
    const get = async () => ({ ...metric, values: read() });
    this.#prom.registerMetric({ name: metric.name, get } as unknown as PromMetric);
  }
}

function labelled(names: readonly string[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, at) => [name, values[at] ?? '']));
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

/** Every combination of the labels' values. */
function combinations(lists: readonly (readonly string[])[]): string[][] {
  return lists.reduce<string[][]>(
    (found, list) => found.flatMap((values) => list.map((value) => [...values, value])),
    [[]],
  );
}

/** A record of the names, with the value that `make` returns for each. */
export function byName<const Name extends string, T>(
  names: readonly Name[],
  make: (name: Name) => T,
): Readonly<Record<Name, T>> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, T>;
}
