import { Counter, Gauge, Histogram, Registry } from 'prom-client';

const PREFIX = 'trading_graph_';

/** The values of each label, from fixed sets: an identifier in a label would leak, and create a new series for each user. */
type Labels<Name extends string> = Readonly<Record<Name, readonly string[]>>;

export class MetricsRegistry extends Registry {
  /** A counter. Every combination of its labels is a series from the start, or Prometheus would miss its first increase. */
  counter<const Name extends string = never>(
    name: string,
    help: string,
    labels = {} as Labels<Name>,
  ): Counter<Name> {
    const labelNames = Object.keys(labels) as Name[];
    const made = new Counter({ name: PREFIX + name, help, labelNames, registers: [this] });
    for (const series of combinations(labels)) made.inc(series, 0);
    return made;
  }

  /** A histogram, with every combination of its labels from the start. */
  histogram<const Name extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    labels = {} as Labels<Name>,
  ): Histogram<Name> {
    const labelNames = Object.keys(labels) as Name[];
    const made = new Histogram({
      name: PREFIX + name,
      help,
      labelNames,
      buckets,
      registers: [this],
    });
    for (const series of combinations(labels)) made.zero(series);
    return made;
  }

  /** A value that is read at each scrape. Without a value it has no series. */
  gauge(name: string, help: string, read: () => number | null | undefined): void {
    this.gauges(name, help, [], () => {
      const value = read();
      return value === null || value === undefined ? [] : [[value]];
    });
  }

  /** Values that are read at each scrape, each with the values of its labels. `read` must return a bounded number of them. */
  gauges(
    name: string,
    help: string,
    labelNames: string[],
    read: () => Iterable<readonly [value: number, ...labels: string[]]>,
  ): void {
    new Gauge({
      name: PREFIX + name,
      help,
      labelNames,
      registers: [this],
      collect() {
        this.reset();
        // A reset gauge without labels has the value 0, so its series is removed.
        if (labelNames.length === 0) this.remove();
        for (const [value, ...labels] of read()) this.labels(...labels).set(value);
      },
    });
  }

  /** A counter whose value is read at each scrape. */
  tally(name: string, help: string, read: () => number): void {
    this.tallies(name, help, [], () => [[read()]]);
  }

  /** Counters that are read at each scrape, each with the values of its labels. */
  tallies(
    name: string,
    help: string,
    labelNames: string[],
    read: () => Iterable<readonly [value: number, ...labels: string[]]>,
  ): void {
    new Counter({
      name: PREFIX + name,
      help,
      labelNames,
      registers: [this],
      collect() {
        this.reset();
        for (const [value, ...labels] of read()) this.labels(...labels).inc(value);
      },
    });
  }
}

function combinations<Name extends string>(labels: Labels<Name>): Record<Name, string>[] {
  let found: Record<string, string>[] = [{}];
  for (const [name, values] of Object.entries<readonly string[]>(labels)) {
    found = found.flatMap((series) => values.map((value) => ({ ...series, [name]: value })));
  }
  return found as Record<Name, string>[];
}
