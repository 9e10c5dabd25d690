import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Scene } from './scenes.ts';
import { mountSmallDisk } from './small-disk.ts';
import { type Line, Stage, type StageOptions } from './stage.ts';

export interface RehearsalOptions extends Omit<StageOptions, 'environment' | 'disk'> {
  /** The time for which all is well, before the scene begins. */
  readonly calmMs: number;
  /** The longest time until all is seen, and until the alerts are over. */
  readonly withinMs: number;
}

export interface Rehearsal {
  readonly scene: Scene;
  /** Seconds until it fired; null where it did not. */
  readonly alerts: readonly { readonly name: string; readonly seconds: number | null }[];
  /** Alerts that the scene does not expect, in the order in which they came. */
  readonly others: readonly { readonly name: string; readonly seconds: number }[];
  readonly lines: readonly { readonly says: string; readonly seconds: number | null }[];
  readonly reasons: readonly string[];
  /** Seconds from the end of the fault until its alerts were over; null where they were not. */
  readonly resolvedAfter: number | null;
  readonly problems: readonly string[];
}

const RUNBOOK = new URL('../../../docs/operations.md', import.meta.url);
const LOOK_MS = 200;

/** Acts one scene, and notes who told of it, and when. */
export async function rehearse(scene: Scene, options: RehearsalOptions): Promise<Rehearsal> {
  const { redisServerPath, withinMs, calmMs } = options;
  await using disk = scene.needs === 'small disk' ? await mountSmallDisk() : null;
  await using stage = await Stage.open({
    ...options,
    disk,
    redisServerPath: scene.needs === 'redis' ? redisServerPath : null,
    environment: scene.environment ?? {},
  });
  const problems: string[] = [];
  await delay(calmMs);
  for (const { name } of await stage.prometheus.firing()) problems.push(`${name} fired before it`);

  const seenLines = stage.logged.length;
  const fired = new Map<string, number>();
  const told = new Map<string, number>();
  const reasons = new Set<string>();
  const runbook = await readFile(RUNBOOK, 'utf8');
  const startedAtMs = performance.now();
  await scene.begin(stage);
  const seconds = () => (performance.now() - startedAtMs) / 1_000;
  await until(withinMs, async () => {
    for (const alert of await stage.prometheus.firing()) {
      if (fired.has(alert.name)) continue;
      fired.set(alert.name, seconds());
      if (!runbook.includes(`\n### ${alert.name}\n`) || !alert.runbook.startsWith('docs/')) {
        problems.push(`${alert.name} leads to ${alert.runbook}, which is not there`);
      }
    }
    const lines = stage.logged.slice(seenLines).map(parseLine);
    for (const { says, fits } of scene.lines) {
      if (!told.has(says) && lines.some(fits)) told.set(says, seconds());
    }
    for (const reason of (await stage.degradedReasons()) ?? ['no answer']) reasons.add(reason);
    return scene.alerts.every((name) => fired.has(name)) && told.size === scene.lines.length;
  });

  await scene.end(stage);
  const endedAtMs = performance.now();
  const isOver = await until(withinMs, async () => {
    const firing = new Set((await stage.prometheus.firing()).map(({ name }) => name));
    const isWell = (await stage.degradedReasons())?.length === 0;
    return isWell && !scene.alerts.some((name) => firing.has(name));
  });
  const resolvedAfter = isOver ? (performance.now() - endedAtMs) / 1_000 : null;

  for (const name of scene.alerts) if (!fired.has(name)) problems.push(`${name} did not fire`);
  for (const { says } of scene.lines) if (!told.has(says)) problems.push(`no line: ${says}`);
  for (const reason of scene.reasons ?? []) {
    if (!reasons.has(reason)) problems.push(`readiness did not say ${reason}`);
  }
  if (!isOver) problems.push('it was not over when the fault was');
  return {
    scene,
    alerts: scene.alerts.map((name) => ({ name, seconds: fired.get(name) ?? null })),
    others: [...fired]
      .filter(([name]) => !scene.alerts.includes(name))
      .map(([name, at]) => ({ name, seconds: at })),
    lines: scene.lines.map(({ says }) => ({ says, seconds: told.get(says) ?? null })),
    reasons: [...reasons],
    resolvedAfter,
    problems,
  };
}

async function until(withinMs: number, isDone: () => Promise<boolean>): Promise<boolean> {
  const giveUpAtMs = performance.now() + withinMs;
  while (performance.now() < giveUpAtMs) {
    if (await isDone()) return true;
    await delay(LOOK_MS);
  }
  return false;
}

/** What is no JSON comes from Node itself. */
function parseLine(text: string): Line {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return { msg: text };
  }
}
