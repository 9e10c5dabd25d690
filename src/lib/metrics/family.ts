import { combinations, type Labels, labelText, type MetricOptions } from './series.ts';

/** The time series of one metric by their labels, each there from the start: Prometheus misses the first increase of a later one. */
export class Family<Name extends string, Series> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Name[];
  protected readonly series = new Map<string, Series>();
  readonly #make: (labels: string) => Series;

  constructor(
    { name, help }: MetricOptions,
    labels: Labels<Name>,
    make: (labels: string) => Series,
  ) {
    this.name = name;
    this.help = help;
    this.labelNames = Object.keys(labels) as Name[];
    this.#make = make;
    for (const values of combinations(Object.values(labels))) this.register(...values);
  }

  /** The series of these values, in the order of the labels' names; made where it is new. */
  register(...values: readonly string[]): Series {
    const key = values.join('\n');
    const known = this.series.get(key);
    if (known !== undefined) return known;
    const series = this.#make(labelText(this.labelNames, values));
    this.series.set(key, series);
    return series;
  }
}
