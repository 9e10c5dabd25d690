import { braced, Family, type Labels, type Metric, type MetricOptions } from './series.ts';

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

export class Counter<Name extends string = never> extends Family<Name, Count> implements Metric {
  readonly type = 'counter';

  constructor(options: MetricOptions, labels: Labels<Name>) {
    super(options, labels, (text) => new Count(text));
  }

  /** Counts where the labels' values are known already; nothing else makes a series. */
  add(...values: readonly string[]): void {
    const count = this.series.get(values.join('\n'));
    if (count !== undefined) count.value += 1;
  }

  write(lines: string[]): void {
    for (const { labels, value } of this.series.values()) {
      lines.push(`${this.name}${braced(labels)} ${value}`);
    }
  }
}

/** Whether a cache had what was looked up. */
export interface CacheReads {
  readonly hit: Count;
  readonly miss: Count;
}
