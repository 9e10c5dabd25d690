import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { readMetrics } from '../leaks.ts';
import { readinessOf } from '../readiness.ts';
import type { Alert } from './monitoring.ts';
import type { Scene } from './scenes.ts';
import { openStage, type StageOptions } from './stage.ts';

export interface RehearsalOptions extends StageOptions {
  /** The time for which all is well before the scene begins, and for which pages are awaited after it. */
  readonly calmMs: number;
  /** The longest time until all is seen, and until the alerts are over. */
  readonly withinMs: number;
  /** The least time that the fault lasts; left out, until its page has been sent. */
  readonly lastsMs?: number;
}

/** The seconds after which each was seen. */
export type Seen = ReadonlyMap<string, number>;

export interface Rehearsal {
  readonly scene: Scene;
  readonly alerts: Seen;
  /** By what `shown` says of a line. */
  readonly lines: Seen;
  readonly reasons: Seen;
  /** The alerts that woke somebody: no more than one, of the cause. */
  readonly pages: readonly string[];
  /** Other ones that came after the end of the fault. */
  readonly latePages: readonly string[];
  /** Seconds from the end of the fault until its alerts were over; null where they were not. */
  readonly resolvedAfter: number | null;
  /** Seconds from there until 95 % of the live lists, and all of them, followed the gateway again. */
  readonly liveAfter: readonly (number | null)[];
  /** The orders that it left unknown, each of which a ticket tells. */
  readonly unknown: number;
  readonly problems: readonly string[];
  /** What somebody on call has, without the name of the fault: file by file, as a drill hands it out. */
  readonly evidence: Readonly<Record<string, string>>;
}

/** What the admin port says of a replica; null where nothing answers. */
type Health = { readonly reasons?: readonly string[]; readonly revision?: string } | null;

const LOOK_MS = 200;
/** Alerts of a machine that keeps its processes waiting for longer are not the fault's. */
const STARVED_MS = 1_000;
const ORDER_UNKNOWN = '"msg":"an order ended unknown"';
/** The window of BudgetBurn that outlives a fault. */
const BUDGET_MS = 300_000;

/** Acts one scene, and notes who told of it, and when. */
export async function rehearse(scene: Scene, options: RehearsalOptions): Promise<Rehearsal> {
  const { calmMs, hastenedBy } = options;
  const withinMs = options.withinMs + (scene.windowMs ?? 0) / hastenedBy;
  await using stage = await openStage(scene, options);
  const { prometheus, alertmanager, replicas, balancer } = stage;
  const problems: string[] = [];
  const turns = monitorEventLoopDelay();
  turns.enable();
  await delay(calmMs);
  // While it does not know its targets yet, or misses a scrape, a door counts as shut, and that inhibits every page.
  let early: readonly Alert[] = [];
  await until(withinMs, async () => {
    early = await prometheus.firing();
    return early.length === 0;
  });
  for (const { labels } of early) problems.push(`${labels.alertname} fired before it`);
  // What is over by now may have been sent: it tells nothing of this fault.
  alertmanager.pages.clear();
  alertmanager.tickets.clear();

  const sources = [...replicas, balancer];
  const names = [...replicas.map((_, at) => `replica-${at + 1}`), 'haproxy'];
  const before = sources.map(({ logged }) => logged.length);
  const newLogs = (since = before) => sources.map(({ logged }, at) => logged.slice(since[at]));
  const readHealths = (): Promise<Health[]> =>
    Promise.all(replicas.map(({ adminUrl }) => readinessOf(adminUrl).catch(() => null)));
  const metrics = () => Promise.all(replicas.map(({ adminUrl }) => readMetrics(adminUrl)));
  const seen = { alerts: new Map(), lines: new Map(), reasons: new Map() };
  const expected = {
    alerts: scene.alerts,
    lines: (scene.lines ?? []).map(shown),
    reasons: scene.reasons ?? [],
  };
  const missing = () =>
    (['alerts', 'lines', 'reasons'] as const).flatMap((kind) =>
      expected[kind].filter((what) => !seen[kind].has(what)).map((what) => `${kind}: ${what}`),
    );
  const note = (where: Map<string, number>, what: string) => {
    if (!where.has(what)) where.set(what, (performance.now() - startedAtMs) / 1_000);
  };
  const told = { alerts: new Map<string, string>(), readiness: [] as string[] };
  const last: string[] = [];
  let read = before;
  const pages = new Set<string>();
  const metricsBefore = await metrics();
  const startedAtMs = performance.now();
  const end = await scene.act(stage);
  await until(withinMs, async () => {
    const now = new Date().toISOString();
    for (const { labels, annotations } of await prometheus.firing()) {
      const { alertname: name = '', job: _job, ...others } = labels;
      if (labels.severity === 'page') pages.add(name);
      note(seen.alerts, name);
      const { summary, runbook_url: leadsTo } = annotations;
      const says = `${name} ${JSON.stringify(others)} ${summary} -> ${leadsTo}`;
      if (!told.alerts.has(says)) told.alerts.set(says, `${now} ${says}`);
    }
    const healths = await readHealths();
    for (const [at, health] of healths.entries()) {
      const says = health === null ? 'no answer' : JSON.stringify(health);
      if (says !== last[at]) told.readiness.push(`${now} ${names[at]} ${says}`);
      last[at] = says;
    }
    const lines = newLogs(read).flat();
    read = sources.map(({ logged }) => logged.length);
    for (const texts of scene.lines ?? []) {
      if (lines.some((line) => fits(line, texts))) note(seen.lines, shown(texts));
    }
    for (const reason of reasonsIn(healths, lines)) note(seen.reasons, reason);
    return missing().length === 0;
  });

  // Pages are sent when their group has waited; a second one may come of the same cause.
  if (scene.alerts.some((name) => pages.has(name))) {
    await until(withinMs, async () => alertmanager.pages.size > 0);
  }
  await delay(alertmanager.pageWithinMs);
  await delay(Math.max(0, startedAtMs + (options.lastsMs ?? 0) - performance.now()));
  const woken = [...alertmanager.pages];

  const metricsAfter = await metrics();
  const evidence = Object.fromEntries([
    ['alerts.txt', [...told.alerts.values()].join('\n')],
    ['readiness.txt', told.readiness.join('\n')],
    ...newLogs().map((lines, at) => [`${names[at]}.log`, lines.join('\n')]),
    ...metricsBefore.map((text, at) => [`${names[at]}.before.prom`, text]),
    ...metricsAfter.map((text, at) => [`${names[at]}.after.prom`, text]),
  ]);
  await end();
  const endedAtMs = performance.now();
  const followed = [0.95, 1].map(async (share) => {
    const isLive = await until(withinMs, async () => stage.traffic.liveShare() >= share);
    return isLive ? (performance.now() - endedAtMs) / 1_000 : null;
  });
  const isOver = await until(withinMs + BUDGET_MS / hastenedBy, async () => {
    const firing = new Set((await prometheus.firing()).map(({ labels }) => labels.alertname));
    const isWell = (health: Health) => health !== null && health.reasons === undefined;
    const healths = await readHealths();
    return healths.every(isWell) && !scene.alerts.some((name) => firing.has(name));
  });
  const overAfter = isOver ? (performance.now() - endedAtMs) / 1_000 : null;
  await delay(calmMs);
  // What nobody was woken for may be sent once nothing inhibits it any more.
  const isCalm = await until(withinMs + BUDGET_MS / hastenedBy, async () =>
    (await prometheus.firing()).every(({ labels }) => labels.severity !== 'page'),
  );
  const turnMs = turns.max / 1e6;
  if (turnMs > STARVED_MS) problems.push(`it tells nothing: a turn took ${Math.round(turnMs)} ms`);
  problems.push(...missing().map((what) => `not among its ${what}`));
  if (!isOver) problems.push('it was not over when the fault was');
  if (!isCalm) problems.push('a page fires on after it');
  const unknown = newLogs()
    .flat()
    .filter((line) => line.includes(ORDER_UNKNOWN)).length;
  if (unknown > 0 && !alertmanager.tickets.has('TradingGraphOrderUnknown')) {
    problems.push(`no ticket tells of ${unknown} unknown orders`);
  }
  return {
    scene,
    ...seen,
    pages: woken,
    latePages: [...alertmanager.pages].filter((name) => !woken.includes(name)),
    resolvedAfter: overAfter,
    liveAfter: await Promise.all(followed),
    unknown,
    problems,
    evidence,
  };
}

/** A line as the table shows it, by the texts that it has to have. */
export function shown(texts: readonly string[]): string {
  return texts.map((text) => `\`${text}\``).join(', ');
}

export function fits(line: string, texts: readonly string[]): boolean {
  return texts.every((text) => line.includes(text));
}

/** What names the cause to whoever is on call: readiness of the admin ports, the builds that run, and codes in the lines of requests. */
function reasonsIn(healths: readonly Health[], lines: readonly string[]): ReadonlySet<string> {
  const revisions = new Set(healths.flatMap((health) => health?.revision ?? []));
  const codes = lines
    .filter((line) => line.includes('"msg":"request"'))
    .flatMap((line) => (JSON.parse(line) as { codes?: string[] }).codes ?? []);
  return new Set([
    ...healths.flatMap((health) => (health === null ? 'no answer' : (health.reasons ?? []))),
    ...(revisions.size > 1 ? ['two revisions'] : []),
    ...codes,
  ]);
}

async function until(withinMs: number, isDone: () => Promise<boolean>): Promise<boolean> {
  const giveUpAtMs = performance.now() + withinMs;
  while (performance.now() < giveUpAtMs) {
    if (await isDone()) return true;
    await delay(LOOK_MS);
  }
  return false;
}
