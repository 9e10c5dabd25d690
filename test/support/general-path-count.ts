import type { TestApp } from './app.ts';
import { readMetrics } from './leaks.ts';

/** How many requests yoga has answered. */
export async function generalPathCount({ adminUrl }: Pick<TestApp, 'adminUrl'>): Promise<number> {
  const metrics = await readMetrics(adminUrl);
  const [, count] = /^trading_graph_http_general_path_total (\d+)$/m.exec(metrics) ?? [];
  if (count === undefined) throw new Error('the metric is missing');
  return Number(count);
}
