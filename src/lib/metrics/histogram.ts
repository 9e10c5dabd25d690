import {
  braced,
  combinations,
  type Labels,
  labelText,
  type Metric,
  type MetricOptions,
} from './series.ts';

/** One time series of a histogram. */
export class Distribution {
  readonly labels: string;
  readonly #bounds: readonly number[];
  /** The values up to each bound and above the one before; the last are above all. */
  readonly #counts: number[];
  #sum = 0;

  constructor(labels: string, bounds: readonly number[]) {
    this.labels = labels;
    this.#bounds = bounds;
    this.#counts = Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] as number)) at += 1;
    this.#counts[at] = (this.#counts[at] as number) + 1;
    this.#sum += value;
  }

  write(name: string, lines: string[]): void {
    const separator = this.labels === '' ? '' : ',';
    let count = 0;
    for (const [at, own] of this.#counts.entries()) {
      count += own;
      const bound = this.#bounds[at] ?? '+Inf';
      lines.push(`${name}_bucket{${this.labels}${separator}le="${bound}"} ${count}`);
    }
    lines.push(`${name}_sum${braced(this.labels)} ${this.#sum}`);
    lines.push(`${name}_count${braced(this.labels)} ${count}`);
  }
}

export class Histogram<Name extends string = never> implements Metric {
  readonly type = 'histogram';
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Name[];
  readonly #bounds: readonly number[];
  readonly #distributions = new Map<string, Distribution>();

  constructor({ name, help }: MetricOptions, labels: Labels<Name>, bounds: readonly number[]) {
    this.name = name;
    this.help = help;
    this.labelNames = Object.keys(labels) as Name[];
    this.#bounds = bounds;
    for (const values of combinations(Object.values(labels))) this.register(...values);
  }

  /** The series of these values, in the order of the labels' names; made where it is new. */
  register(...values: readonly string[]): Distribution {
    const key = values.join('\n');
    const known = this.#distributions.get(key);
    if (known !== undefined) return known;
    const distribution = new Distribution(labelText(this.labelNames, values), this.#bounds);
    this.#distributions.set(key, distribution);
    return distribution;
  }

  write(lines: string[]): void {
    for (const distribution of this.#distributions.values()) distribution.write(this.name, lines);
  }
}
