import { braced, Family, type Labels, type Metric, type MetricOptions } from './series.ts';

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

export class Histogram<Name extends string = never>
  extends Family<Name, Distribution>
  implements Metric
{
  readonly type = 'histogram';

  constructor(options: MetricOptions, labels: Labels<Name>, bounds: readonly number[]) {
    super(options, labels, (text) => new Distribution(text, bounds));
  }

  write(lines: string[]): void {
    for (const distribution of this.series.values()) distribution.write(this.name, lines);
  }
}
