/** The values of each label, in the order of its name; every combination is a time series from the start. */
export type Labels<Name extends string> = Readonly<Record<Name, readonly string[]>>;

/** A metric as Prometheus reads it, and as the list of all metrics describes it. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labelNames: readonly string[];
  /** Appends its lines. */
  write(lines: string[]): void;
}

export interface MetricOptions {
  readonly name: string;
  readonly help: string;
}

/** The part of a line in braces, without them. */
export function labelText(names: readonly string[], values: readonly string[]): string {
  return names.map((name, at) => `${name}="${escaped(values[at] ?? '')}"`).join(',');
}

export function braced(labels: string): string {
  return labels === '' ? '' : `{${labels}}`;
}

/** Every combination of the labels' values. */
function combinations(lists: readonly (readonly string[])[]): string[][] {
  return lists.reduce<string[][]>(
    (found, list) => found.flatMap((values) => list.map((value) => [...values, value])),
    [[]],
  );
}

export function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

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
