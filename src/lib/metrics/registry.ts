import { collectDefaultMetrics, Registry as ProcessRegistry } from 'prom-client';
import { Counter } from './counter.ts';
import { Gauge } from './gauge.ts';
import { Histogram } from './histogram.ts';
import type { Labels, Metric } from './series.ts';

const PREFIX = 'trading_graph_';

/**
 * The metrics for operators. Labels come from fixed sets (operations, codes, outcomes), or from what the
 * gateway has confirmed, in a bounded number (groups): an identifier in a label would be a leak, and a new
 * time series for each user.
 */
export class Registry {
  readonly #metrics: Metric[] = [];
  /** `process_*` and `nodejs_*`, under the names that ready-made dashboards know. */
  readonly #process = new ProcessRegistry();
  readonly contentType = this.#process.contentType;

  /** Observers of the process are never given back, so only one registry of it has them. */
  countProcess(): void {
    collectDefaultMetrics({ register: this.#process });
  }

  counter<const Name extends string = never>(
    name: string,
    help: string,
    labels: Labels<Name> = {} as Labels<Name>,
  ): Counter<Name> {
    return this.#add(new Counter({ name: PREFIX + name, help }, labels));
  }

  histogram<const Name extends string = never>(
    name: string,
    help: string,
    bounds: readonly number[],
    labels: Labels<Name> = {} as Labels<Name>,
  ): Histogram<Name> {
    return this.#add(new Histogram({ name: PREFIX + name, help }, labels, bounds));
  }

  gauge<const Name extends string = never>(
    name: string,
    help: string,
    ...labelNames: readonly Name[]
  ): Gauge<Name> {
    return this.#add(new Gauge({ name: PREFIX + name, help }, labelNames));
  }

  /** A counter whose source counts by itself. */
  tally<const Name extends string = never>(
    name: string,
    help: string,
    ...labelNames: readonly Name[]
  ): Gauge<Name> {
    return this.#add(new Gauge({ name: PREFIX + name, help }, labelNames, 'counter'));
  }

  /** All metrics, in the order of registration. */
  get metrics(): readonly Metric[] {
    return this.#metrics;
  }

  async text(): Promise<string> {
    const ofProcess = await this.#process.metrics();
    const lines: string[] = [];
    for (const metric of this.#metrics) {
      lines.push(`# HELP ${metric.name} ${metric.help}`, `# TYPE ${metric.name} ${metric.type}`);
      metric.write(lines);
    }
    return `${lines.join('\n')}\n${ofProcess}`;
  }

  #add<M extends Metric>(metric: M): M {
    this.#metrics.push(metric);
    return metric;
  }
}
