import type { Contestant } from './support/contestant.ts';
import type { Field } from './support/field.ts';
import { QUERY } from './support/live-contestants.ts';
import { LiveCrowd } from './support/live-crowd.ts';
import { fire } from './support/load.ts';
import { table } from './support/markdown.ts';
import { startOurs, type Variant } from './support/start-contestants.ts';
import { median, quantile } from './support/statistics.ts';

export interface RefreshPace {
  readonly rounds: number;
  readonly durationMs: number;
}

// About a third of what a core can bear: a loop that is never idle is late in any case.
const CONNECTIONS = 16;
const REST_MS = 25;
const WARM_MS = 3_000;
// Of one account, so that a change is an event for all of them.
const SOCKETS = 100;

const SITUATIONS = [
  ['the catalog stays', '3600'],
  ['a changed catalog every 2 s', '2'],
] as const;

/** What holds the event loop longest while screens are requested, with a new catalog every other second and without. */
export async function refreshTable(field: Field, pace: RefreshPace): Promise<string> {
  const rows: string[][] = [];
  for (const [title, maxAgeSeconds] of SITUATIONS) {
    const taken = new Map(field.variants.map((variant) => [variant, [] as Sample[]]));
    for (let round = 0; round < pace.rounds; round += 1) {
      for (const variant of field.variants) {
        taken.get(variant)?.push(await sample(field, variant, maxAgeSeconds, pace.durationMs));
      }
    }
    for (const [{ name }, samples] of taken) {
      const row = (read: (sample: Sample) => number, digits: number) =>
        median(samples.map(read)).toFixed(digits);
      rows.push([
        `${title}: ${name}`,
        row(({ catalogs }) => catalogs, 0),
        row(({ perSecond }) => perSecond, 0),
        row(({ delayP99Ms }) => delayP99Ms, 2),
        row(({ holdsMs }) => holdsMs[0] ?? 0, 1),
        row(({ holdsMs }) => holdsMs[TENTH] ?? 0, 1),
        row(({ pausesMs }) => pausesMs[0] ?? 0, 1),
        row(({ coreShare }) => coreShare * 100, 0),
        row(({ latenciesMs }) => quantile(latenciesMs, 0.5), 2),
        row(({ latenciesMs }) => quantile(latenciesMs, 0.99), 2),
      ]);
    }
  }
  const holds = ['longest hold, ms', 'the tenth', 'longest GC pause, elapsed'];
  const head = [
    'catalogs',
    'screens/s',
    'delay p99, ms',
    ...holds,
    '% of a core',
    'answer p50, ms',
    'p99',
  ];
  return table(['Event loop under load', ...head], rows);
}

const TENTH = 9;

type Sample = Awaited<ReturnType<typeof sample>>;

async function sample(field: Field, variant: Variant, maxAgeSeconds: string, durationMs: number) {
  const { gateway, surroundings } = field;
  const environment = { ...variant.environment, CATALOG_MAX_AGE_SECONDS: maxAgeSeconds };
  const ours = await startOurs(surroundings, { ...variant, environment });
  await using _ = ours.process;
  await gateway.order({ renewsCatalog: true });
  await screens(ours, field, WARM_MS);
  const crowd = new LiveCrowd(ours.port);
  await crowd.connect(Array.from({ length: SOCKETS }, (_, at) => tokenAt(surroundings.tokens, at)));
  await crowd.subscribe(QUERY);
  const before = await gateway.order({ market: 'moving' });
  await ours.process.ask({ ask: 'watch-delay' });
  await ours.process.ask({ ask: 'watch-holds' });
  const cpuBefore = await ours.process.ask({ ask: 'cpu' });
  const { answered, latenciesMs } = await screens(ours, field, durationMs);
  const cpu = (await ours.process.ask({ ask: 'cpu' })) - cpuBefore;
  const holds = await ours.process.ask({ ask: 'holds' });
  const { p99Ms } = await ours.process.ask({ ask: 'delay' });
  const after = await gateway.order({ renewsCatalog: false });
  crowd.close();
  return {
    ...holds,
    delayP99Ms: p99Ms,
    latenciesMs,
    catalogs: after.catalogs - before.catalogs,
    perSecond: (answered * 1000) / durationMs,
    coreShare: cpu / 1000 / durationMs,
  };
}

function tokenAt(tokens: readonly string[], at: number): string {
  return tokens[at % tokens.length] as string;
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
