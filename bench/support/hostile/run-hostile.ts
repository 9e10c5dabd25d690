import { type Damage, measureDamage, type Worst } from './damage.ts';
import { type HostileFacade, type Settings, startHostileFacade } from './hostile-facade.ts';
import { type Holdings, type HostileGateway, startHostileGateway } from './hostile-gateway.ts';
import { damageTable, type Finding } from './hostile-table.ts';
import { KNOWN_DOCUMENTS, knownWriter } from './known-documents.ts';

export interface HostileOptions {
  readonly holdings: Holdings;
  /** The time for which each of them is used. */
  readonly damageMs: number;
  /** Settings of the facade, in place of its defaults. */
  readonly settings: Settings;
}

export interface HostileReport {
  readonly findings: readonly Finding[];
  readonly text: string;
}

/** Limits of one request stay as they are; those over time would end the trials immediately. */
export const UNPACED = {
  RATE_LIMIT_PER_MINUTE: '1000000000',
  COST_LIMIT_PER_MINUTE: '1000000000000',
  POSITIONS_POLL_MS: '100',
};
const QUIET_MS = 2_000;

/** Measures what the known documents do to the others. */
export async function runHostile(options: HostileOptions): Promise<HostileReport> {
  const { holdings, settings, damageMs } = options;
  await using gateway = await startHostileGateway(holdings);
  const start = () => startHostileFacade(gateway, settings);
  const quiet = await inflict(start, gateway, null, Math.min(QUIET_MS, damageMs));
  const findings: Finding[] = [];
  for (const { name, kind, ...document } of KNOWN_DOCUMENTS) {
    const worst = { kind, write: knownWriter(document) };
    const damage = await inflict(start, gateway, worst, damageMs);
    findings.push({ name, document: worst.write(), damage });
  }
  return { findings, text: damageTable(findings, quiet) };
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
