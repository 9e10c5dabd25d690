import { braced, labelText, type Metric, type MetricOptions } from './series.ts';

type Read = () => number | null;

/** Values that are read from their sources at each scrape. Without a source it has no series. */
export class Gauge<Name extends string = never> implements Metric {
  readonly type: 'gauge' | 'counter';
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Name[];
  readonly #sources = new Map<string, Read>();

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

  write(lines: string[]): void {
    for (const [labels, read] of this.#sources) {
      const value = read();
      if (value !== null) lines.push(`${this.name}${braced(labels)} ${value}`);
    }
  }
}
