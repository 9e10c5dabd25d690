import { type Damage, measureDamage, type Worst } from './damage.ts';
import type { Climb } from './hill-climb.ts';
import { type HostileFacade, type Settings, startHostileFacade } from './hostile-facade.ts';
import { type Holdings, type HostileGateway, startHostileGateway } from './hostile-gateway.ts';
import { damageTable, type Finding, searchTable } from './hostile-table.ts';
import { KINDS, type Kind } from './kinds.ts';
import { Search, writerOf } from './search.ts';
import { TrialGround } from './trial-ground.ts';

export interface HostileOptions {
  readonly seed: string;
  readonly holdings: Holdings;
  /** The time of the search for the worst document of each kind. */
  readonly searchMs: number;
  readonly leastTries: number;
  /** The time for which each of them is used. */
  readonly damageMs: number;
  /** Settings of the facade, in place of its defaults. */
  readonly settings: Settings;
}

export interface HostileReport {
  readonly findings: readonly Finding[];
  readonly text: string;
}

/** Limits of one request stay as they are; those over time would end a search immediately. */
const UNPACED = {
  RATE_LIMIT_PER_MINUTE: '1000000000',
  COST_LIMIT_PER_MINUTE: '1000000000000',
  POSITIONS_POLL_MS: '100',
};
const QUIET_MS = 2_000;
/** Looks for the worst that one account can do in each way, then measures what it does to the others. */
export async function runHostile(options: HostileOptions): Promise<HostileReport> {
  const { holdings, settings } = options;
  await using gateway = await startHostileGateway(holdings);
  const sought = await search(gateway, options);
  const start = () => startHostileFacade(gateway, settings);
  const quiet = await inflict(start, gateway, null, Math.min(QUIET_MS, options.damageMs));
  const findings: Finding[] = [];
  for (const { kind, climb } of sought) {
    const [worst] = climb.worst;
    if (!worst) {
      findings.push({ kind, climb, document: null, damage: null });
      continue;
    }
    const write = writerOf(kind, worst.draft);
    const damage = await inflict(start, gateway, { kind, write }, options.damageMs);
    findings.push({ kind, climb, document: write(), damage });
  }
  const text = [damageTable(findings, quiet), searchTable(findings)].join('\n\n');
  return { findings, text };
}

async function search(
  gateway: HostileGateway,
  { settings, seed, searchMs, leastTries }: HostileOptions,
): Promise<{ kind: Kind; climb: Climb }[]> {
  await using ground = new TrialGround(gateway.hostile, () =>
    startHostileFacade(gateway, { ...settings, ...UNPACED }),
  );
  const looking = await Search.begin({ ground, seed, searchMs, leastTries });
  const found = [];
  for (const kind of KINDS) found.push({ kind, climb: await looking.worstOf(kind) });
  return found;
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
