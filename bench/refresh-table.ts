import type { Contestant } from './support/contestant.ts';
import type { Field } from './support/field.ts';
import { fire } from './support/load.ts';
import { table } from './support/markdown.ts';
import { startOurs } from './support/start-contestants.ts';
import { quantile } from './support/statistics.ts';

// About half of what a core can bear: a loop that is never idle is late in any case.
const CONNECTIONS = 16;
const REST_MS = 10;
const WARM_MS = 2_000;

/** The event loop's delay while screens are requested, with a new catalog every other second and without. */
export async function refreshTable(field: Field, durationMs: number): Promise<string> {
  const { gateway, surroundings } = field;
  const rows: string[][] = [];
  for (const [title, maxAgeSeconds] of [
    ['the catalog stays', '3600'],
    ['a changed catalog every 2 s', '2'],
  ] as const) {
    const environment = { CATALOG_MAX_AGE_SECONDS: maxAgeSeconds };
    const ours = await startOurs(surroundings, { name: 'ours', environment });
    await using _ = ours.process;
    await gateway.order({ renewsCatalog: true });
    await screens(ours, field, WARM_MS);
    const before = await gateway.order({ market: 'moving' });
    await ours.process.ask({ ask: 'watch-delay' });
    const { answered, latenciesMs } = await screens(ours, field, durationMs);
    const { p50Ms, p99Ms, maxMs } = await ours.process.ask({ ask: 'delay' });
    const after = await gateway.order({ renewsCatalog: false });
    rows.push([
      title,
      String(after.catalogs - before.catalogs),
      ((answered * 1000) / durationMs).toFixed(0),
      ...[p50Ms, p99Ms, maxMs, quantile(latenciesMs, 0.5), quantile(latenciesMs, 0.99)].map((ms) =>
        ms.toFixed(2),
      ),
    ]);
  }
  const head = ['delay p50, ms', 'p99', 'longest', 'answer p50, ms', 'p99'];
  return table(['Event loop under load', 'catalogs', 'screens/s', ...head], rows);
}

/** Home screens and searches alternate. */
async function screens(ours: Contestant, { workloads }: Field, durationMs: number) {
  const asked = workloads.filter(({ name }) => name === 'home' || name === 'search-fresh');
  let turn = 0;
  return fire({
    port: ours.port,
    connections: CONNECTIONS,
    restMs: REST_MS,
    durationMs,
    next: (connection) => {
      turn += 1;
      const question = asked[turn % asked.length]?.next();
      if (!question) throw new Error('nothing is asked');
      return ours.request(question, 'identity', connection);
    },
  });
}
