import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { FiringAlert } from './prometheus.ts';
import { type Evidence, NightRecord } from './record.ts';
import type { Scene } from './scene.ts';
import { reasonsIn } from './seen-reasons.ts';
import { mountSmallDisk } from './small-disk.ts';
import { type Line, openStage, type StageOptions } from './stage.ts';

export interface RehearsalOptions
  extends Omit<StageOptions, 'environment' | 'disk' | 'isGatewayTls'> {
  /** The time for which all is well, before the scene begins. */
  readonly calmMs: number;
  /** The longest time until all is seen, and until the alerts are over. */
  readonly withinMs: number;
}

/** Null where it was not seen. */
export interface Sighting {
  readonly what: string;
  readonly seconds: number | null;
}

export interface Rehearsal {
  readonly scene: Scene;
  readonly alerts: readonly Sighting[];
  /** Alerts that the scene does not expect, in the order in which they came. */
  readonly others: readonly Sighting[];
  readonly lines: readonly Sighting[];
  readonly reasons: readonly Sighting[];
  /** The alerts that woke somebody: no more than one, of the cause. */
  readonly pages: readonly string[];
  /** Seconds from the end of the fault until its alerts were over; null where they were not. */
  readonly resolvedAfter: number | null;
  readonly problems: readonly string[];
  readonly evidence: Evidence;
}

const RUNBOOK = new URL('../../../docs/runbook.md', import.meta.url);
const LOOK_MS = 200;

/** Acts one scene, and notes who told of it, and when. */
export async function rehearse(scene: Scene, options: RehearsalOptions): Promise<Rehearsal> {
  const { withinMs, calmMs } = options;
  await using disk = scene.needs === 'small disk' ? await mountSmallDisk() : null;
  await using stage = await openStage({
    ...options,
    disk,
    isGatewayTls: scene.needs === 'TLS',
    environment: scene.environment ?? {},
  });
  const problems: string[] = [];
  await delay(calmMs);
  // While it does not know its targets yet, or misses a scrape, a door counts as shut, and that inhibits every page.
  let early: readonly FiringAlert[] = [];
  await until(withinMs, async () => {
    early = await stage.prometheus.firing();
    return early.length === 0;
  });
  for (const { name } of early) problems.push(`${name} fired before it`);

  const seen = stage.logs.map(({ length }) => length);
  const newLogs = () => stage.logs.map((log, at) => log.slice(seen[at]).map(parseLine));
  const fired = new Map<string, number>();
  const told = new Map<string, number>();
  const reasons = new Map<string, number>();
  const isPage = new Set<string>();
  const note = (where: Map<string, number>, what: string) => {
    if (!where.has(what)) where.set(what, seconds());
  };
  const runbook = await readFile(RUNBOOK, 'utf8');
  const record = new NightRecord(stage);
  await record.begin();
  const startedAtMs = performance.now();
  const seconds = () => (performance.now() - startedAtMs) / 1_000;
  await scene.begin(stage);
  await until(withinMs, async () => {
    const firing = await stage.prometheus.firing();
    for (const alert of firing) {
      const isNew = !fired.has(alert.name);
      note(fired, alert.name);
      if (alert.isPage) isPage.add(alert.name);
      if (isNew && !(runbook.includes(`\n### ${alert.name}\n`) && leadsThere(alert))) {
        problems.push(`${alert.name} leads to ${alert.runbook}, which is not there`);
      }
    }
    const lines = newLogs().flat();
    const healths = await Promise.all(stage.replicas.map((replica) => replica.health()));
    record.note(firing, healths);
    for (const { says, fits } of scene.lines) if (lines.some(fits)) note(told, says);
    for (const reason of reasonsIn(healths, lines)) note(reasons, reason);
    return (
      scene.alerts.every((name) => fired.has(name)) &&
      scene.reasons.every((reason) => reasons.has(reason)) &&
      told.size === scene.lines.length
    );
  });

  // Pages are sent when their group has waited; a second one may come of the same cause.
  const { pages, pageWithinMs } = stage.alertmanager;
  if (scene.alerts.some((name) => isPage.has(name))) {
    await until(withinMs, async () => pages.size > 0);
  }
  await delay(pageWithinMs);
  const woken = [...pages];

  const evidence = await record.end(newLogs());
  await scene.end(stage);
  const endedAtMs = performance.now();
  const isOver = await until(withinMs, async () => {
    const firing = new Set((await stage.prometheus.firing()).map(({ name }) => name));
    const healths = await Promise.all(stage.replicas.map((replica) => replica.health()));
    const isWell = healths.every((health) => health !== null && health.reasons === undefined);
    return isWell && !scene.alerts.some((name) => firing.has(name));
  });
  const resolvedAfter = isOver ? (performance.now() - endedAtMs) / 1_000 : null;

  const sightings = (where: ReadonlyMap<string, number>, expected: readonly string[]) =>
    expected.map((what) => ({ what, seconds: where.get(what) ?? null }));
  const cells = {
    alerts: sightings(fired, scene.alerts),
    lines: sightings(
      told,
      scene.lines.map(({ says }) => says),
    ),
    reasons: sightings(reasons, scene.reasons),
  };
  for (const [name, cell] of Object.entries(cells)) {
    for (const { what, seconds: at } of cell) {
      if (at === null) problems.push(`not among its ${name}: ${what}`);
    }
  }
  if (!isOver) problems.push('it was not over when the fault was');
  return {
    scene,
    ...cells,
    others: [...fired]
      .filter(([name]) => !scene.alerts.includes(name))
      .map(([what, at]) => ({ what, seconds: at })),
    pages: woken,
    resolvedAfter,
    problems,
    evidence,
  };
}

function leadsThere({ name, runbook }: { readonly name: string; readonly runbook: string }) {
  return runbook === `docs/runbook.md#${name.toLowerCase()}`;
}

async function until(withinMs: number, isDone: () => Promise<boolean>): Promise<boolean> {
  const giveUpAtMs = performance.now() + withinMs;
  while (performance.now() < giveUpAtMs) {
    if (await isDone()) return true;
    await delay(LOOK_MS);
  }
  return false;
}

/** What is no JSON comes from Node itself, or from the load balancer. */
function parseLine(text: string): Line {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return { msg: text };
  }
}
