import type { TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';

/** One scrape of the metrics: the text, and the value of each series in it. */
export async function scrape({ adminUrl }: Pick<TestApp, 'adminUrl'>) {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const series = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const space = line.lastIndexOf(' ');
    series.set(line.slice(0, space), Number(line.slice(space + 1)));
  }
  return { text, series };
}

/** The value of one of the service's series; NaN if it does not exist. */
export async function seriesValue(app: Pick<TestApp, 'adminUrl'>, name: string): Promise<number> {
  const { series } = await scrape(app);
  return series.get(`trading_graph_${name}`) ?? Number.NaN;
}

/** Runs `task`, then waits until the series has risen by exactly this much. */
export async function expectRise(
  app: Pick<TestApp, 'adminUrl'>,
  name: string,
  by: number,
  task: () => Promise<unknown>,
): Promise<void> {
  const before = await seriesValue(app, name);
  if (Number.isNaN(before)) throw new Error(`${name} is not there from the start`);
  await task();
  await eventually(async () => {
    const rise = (await seriesValue(app, name)) - before;
    if (rise !== by) throw new Error(`${name} has risen by ${rise} instead of ${by}`);
  });
}
