import { braced, labelText, type Metric, type MetricOptions } from './series.ts';

type Read = () => number | null;
type ReadEach = () => Iterable<readonly [value: number, ...labels: string[]]>;

/** Values that are read from their sources at each scrape. Without a source it has no series. */
export class Gauge<Name extends string = never> implements Metric {
  readonly type: 'gauge' | 'counter';
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Name[];
  readonly #sources = new Map<string, Read>();
  #each: ReadEach = () => [];

  /** `counter`: for a source that counts by itself. */
  constructor(
    { name, help }: MetricOptions,
    labelNames: readonly Name[],
    type: 'gauge' | 'counter' = 'gauge',
  ) {
    this.name = name;
    this.help = help;
    this.labelNames = labelNames;
    this.type = type;
  }

  /** Null at a scrape: there is nothing to measure now. */
  from(read: Read, ...values: readonly string[]): void {
    this.#sources.set(labelText(this.labelNames, values), read);
  }

  /** Series that come and go, whose source bounds their number. */
  fromEach(read: ReadEach): void {
    this.#each = read;
  }

  write(lines: string[]): void {
    for (const [value, ...labels] of this.#each()) {
      lines.push(`${this.name}${braced(labelText(this.labelNames, labels))} ${value}`);
    }
    for (const [labels, read] of this.#sources) {
      const value = read();
      if (value !== null) lines.push(`${this.name}${braced(labels)} ${value}`);
    }
  }
}
