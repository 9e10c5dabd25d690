import { type Damage, measureDamage, type Worst } from './damage.ts';
import type { Climb } from './hill-climb.ts';
import { type HostileFacade, type Settings, startHostileFacade } from './hostile-facade.ts';
import { type Holdings, type HostileGateway, startHostileGateway } from './hostile-gateway.ts';
import { damageTable, type Finding, searchTable } from './hostile-table.ts';
import { KINDS, type Kind } from './kinds.ts';
import { KNOWN_DOCUMENTS, knownWriter } from './known-documents.ts';
import { searchWorst, writerOf } from './search.ts';
import { TrialGround } from './trial-ground.ts';

export interface HostileOptions {
  readonly seed: string;
  readonly holdings: Holdings;
  /** The time of the search for the worst document of each kind; at 0 the known ones alone are measured. */
  readonly searchMs: number;
  readonly leastTries: number;
  /** The time for which each of them is used. */
  readonly damageMs: number;
  /** Settings of the facade, in place of its defaults. */
  readonly settings: Settings;
}

export interface HostileReport {
  readonly findings: readonly Finding[];
  readonly searches: readonly { readonly kind: Kind; readonly climb: Climb }[];
  readonly text: string;
}

/** Limits of one request stay as they are; those over time would end a search immediately. */
export const UNPACED = {
  RATE_LIMIT_PER_MINUTE: '1000000000',
  COST_LIMIT_PER_MINUTE: '1000000000000',
  POSITIONS_POLL_MS: '100',
};
const QUIET_MS = 2_000;

/** Measures what the known documents do to the others, and the worst that a search finds in each way. */
export async function runHostile(options: HostileOptions): Promise<HostileReport> {
  const { holdings, settings, damageMs } = options;
  await using gateway = await startHostileGateway(holdings);
  const searches = options.searchMs > 0 ? await search(gateway, options) : [];
  const start = () => startHostileFacade(gateway, settings);
  const quiet = await inflict(start, gateway, null, Math.min(QUIET_MS, damageMs));
  const known = KNOWN_DOCUMENTS.map(({ name, kind, ...document }) => ({
    name,
    worst: { kind, write: knownWriter(document) },
  }));
  const found = searches.flatMap(({ kind, climb: { worst } }) =>
    worst.slice(0, 1).map(({ draft }) => ({
      name: `${kind}, found`,
      worst: { kind, write: writerOf(kind, draft) },
    })),
  );
  const findings: Finding[] = [];
  for (const { name, worst } of [...known, ...found]) {
    const damage = await inflict(start, gateway, worst, damageMs);
    findings.push({ name, document: worst.write(), damage });
  }
  const tables = [damageTable(findings, quiet)];
  if (searches.length > 0) tables.push(searchTable(searches));
  return { findings, searches, text: tables.join('\n\n') };
}

async function search(
  gateway: HostileGateway,
  { settings, seed, searchMs, leastTries }: HostileOptions,
): Promise<{ readonly kind: Kind; readonly climb: Climb }[]> {
  await using ground = new TrialGround(gateway.hostile, () =>
    startHostileFacade(gateway, { ...settings, ...UNPACED }),
  );
  return await searchWorst({ ground, seed, searchMs, leastTries }, KINDS);
}

async function inflict(
  start: () => Promise<HostileFacade>,
  gateway: HostileGateway,
  worst: Worst | null,
  ms: number,
): Promise<Damage> {
  await using facade = await start();
  return await measureDamage(facade, gateway, worst, ms);
}
