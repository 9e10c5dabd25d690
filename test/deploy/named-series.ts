/** A metric as an expression asks for it: the name, and the values of labels that must be there. */
export interface NamedSeries {
  readonly metric: string;
  readonly labels: readonly { readonly name: string; readonly value: RegExp }[];
}

const METRIC = /(?<![\w:])((?:trading_graph|process|nodejs)_\w+)(?![\w:])(?:\{([^}]*)\})?/g;
const MATCHER = /(\w+)\s*(=~|!=|!~|=)\s*"([^"]*)"/g;
/** Prometheus adds these to what it scrapes. */
const OF_THE_SCRAPE = ['job', 'instance'];

/** Every series of the service and its process that a text with PromQL names. */
export function namedSeries(text: string): NamedSeries[] {
  return [...text.matchAll(METRIC)].map(([, metric = '', matchers = '']) => ({
    metric,
    labels: [...matchers.matchAll(MATCHER)]
      .filter(([, name = '']) => !OF_THE_SCRAPE.includes(name))
      .map(([, name = '', operator, value = '']) => ({
        name,
        // An excluded value (`!=`, `!~`) has to be one of the label's as well, or it is misspelt.
        value:
          operator === '=' || operator === '!=' ? literal(value) : new RegExp(`^(?:${value})$`),
      })),
  }));
}

/** Names the part of a series that a scrape lacks; null where the scrape has it. */
export function missingFrom(
  series: Iterable<string>,
  { metric, labels }: NamedSeries,
): string | null {
  const ofMetric = [...series].filter((one) => one === metric || one.startsWith(`${metric}{`));
  if (ofMetric.length === 0) return metric;
  const misfit = labels.find(
    ({ name, value }) => !ofMetric.some((one) => value.test(labelValue(one, name) ?? '\0')),
  );
  return misfit === undefined ? null : `${metric} with ${misfit.name} ${misfit.value}`;
}

function labelValue(series: string, label: string): string | undefined {
  return new RegExp(`[{,]${label}="([^"]*)"`).exec(series)?.[1];
}

function literal(value: string): RegExp {
  return new RegExp(`^${value.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);
}
