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
export function combinations(lists: readonly (readonly string[])[]): string[][] {
  return lists.reduce<string[][]>(
    (found, list) => found.flatMap((values) => list.map((value) => [...values, value])),
    [[]],
  );
}

export function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}
