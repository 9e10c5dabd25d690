import {
  braced,
  combinations,
  type Labels,
  labelText,
  type Metric,
  type MetricOptions,
} from './series.ts';

/** One time series of a counter. Whoever counts keeps it, so that counting is an addition. */
export class Count {
  readonly labels: string;
  value = 0;

  constructor(labels: string) {
    this.labels = labels;
  }

  add(amount = 1): void {
    this.value += amount;
  }
}

/** Counters by labels, each at 0 from the start: Prometheus misses the first increase of a later one. */
export class Counter<Name extends string = never> implements Metric {
  readonly type = 'counter';
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Name[];
  readonly #counts = new Map<string, Count>();

  constructor({ name, help }: MetricOptions, labels: Labels<Name>) {
    this.name = name;
    this.help = help;
    this.labelNames = Object.keys(labels) as Name[];
    for (const values of combinations(Object.values(labels))) this.register(...values);
  }

  /** The series of these values, in the order of the labels' names; made where it is new. */
  register(...values: readonly string[]): Count {
    const key = values.join('\n');
    const known = this.#counts.get(key);
    if (known !== undefined) return known;
    const count = new Count(labelText(this.labelNames, values));
    this.#counts.set(key, count);
    return count;
  }

  /** Counts where the labels' values are known already; nothing else makes a series. */
  add(...values: readonly string[]): void {
    const count = this.#counts.get(values.join('\n'));
    if (count !== undefined) count.value += 1;
  }

  write(lines: string[]): void {
    for (const { labels, value } of this.#counts.values()) {
      lines.push(`${this.name}${braced(labels)} ${value}`);
    }
  }
}
