/**
 * A night of faults against three replicas behind haproxy, with a Redis, a probe of the front door and traffic, under a real
 * Prometheus: what tells of each, when, and what of it would wake somebody. `npm run soak -- fault-scenarios --help` has the rest.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import * as machine from '../test/support/machine.ts';
import { readRules, timesOf } from '../test/support/night/monitoring.ts';
import { type Rehearsal, rehearse, type Seen, shown } from '../test/support/night/rehearse.ts';
import { drawScenes, SCENES, type Scene } from '../test/support/night/scenes.ts';
import { mayMount } from '../test/support/night/small-disk.ts';

const HASTENED_BY = 30;
const APART_MS = 10_000;
const HELP = `npm run soak -- fault-scenarios [--seed 7] [--faults 10] [--real] [--at-once 8] [--lasts 15] [--drill folder] [words of a title …]

Draws faults from test/support/night/scenes.ts in the order that the seed decides, acts one after the other, or as many at once as
--at-once says, each with replicas and monitoring of its own, and prints a table: when the first line came, the reason, the alerts
with their real times, the page, of which there may be one, and the orders left unknown, which need a ticket. What is missing fails
the night, and with --real a second page, also after the fault's end. Fifteen requests a second, three of them orders, of 60
accounts, with --real of 300, and twenty live lists go on meanwhile. --lasts keeps a fault up for as many minutes at least.

Every \`for\`, every window of the rules, Alertmanager's waits and the scrape are a thirtieth of what the files say, so that a fault takes three
quarters of a minute; expressions and thresholds are the files'. What the service itself does takes the time that it takes
in reality, and rules that count events need thirty times as many. \`--real\` scrapes every 15 s and judges in real time: a quarter of an
hour for each fault, and an hour and a quarter for all of them, eight at once, which needs four cores. A scene that has waited for
the machine for over a second says so, and tells nothing: \`nice -n -15\` keeps others from it.

What no fault here brings about, by hand against the sandbox gateway, where a body is for \`POST /sandbox/faults\`, until \`DELETE\`:
- GatewayChanged: read positions for an hour, then \`{"operation":"getOpenPositions","kind":"status","status":200,"body":{"positions":[{"id":"1","symbol":"A"}]}}\`
- MemoryShort: \`NODE_OPTIONS=--max-old-space-size=96\` and some hundred subscriptions
- Slow: \`{"operation":"*","kind":"delay","delayMs":3000}\`
- OrdersInDoubt: \`{"operation":"getSession","kind":"hang"}\`, and an order with a new token
- CatalogOld: \`{"operation":"getAllTickers","kind":"status","status":503}\` with \`CATALOG_MAX_AGE_SECONDS=60\`
- Flood: \`npm test -- test/end-to-end/limits/senders.test.ts\`
- FillsUp: \`ORDER_RECORDS_PER_ACCOUNT=10\` and nine orders
- DocumentsUnreadable: write \`{\` into the manifest
- LogDropped: \`npm start > /dev/full\` under load, beyond 4 MB

A drill, \`--drill folder\`, names no fault. Each has a folder with what somebody on call has: alerts.txt, readiness.txt, the
logs since the fault, and the metrics before and then; answers.md is the table.
  1. Somebody else, or \`shuf\`, chooses a seed that nobody has rehearsed.
  2. With a clock beside you open one folder: its alerts, then \`tail -n 5 readiness.txt\`, the lines, docs/runbook.md.
  3. Write down what is broken, for whom, and what is to be done. After two minutes it counts as missed.
  4. Compare with answers.md. What was missed, or found by guessing, is a fault of a line, an alert or the runbook.
`;

const { values, positionals } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 10_000)) },
    faults: { type: 'string', default: String(SCENES.length) },
    drill: { type: 'string' },
    real: { type: 'boolean', default: false },
    'at-once': { type: 'string', default: '1' },
    lasts: { type: 'string', default: '0' },
    help: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const { seed, drill, real: isReal } = values;
if (values.help) {
  process.stdout.write(HELP);
  process.exit();
}
const tools = {
  prometheusPath: needed('prometheus', machine.prometheusPath),
  alertmanagerPath: needed('prometheus-alertmanager', machine.alertmanagerPath),
  haproxyPath: needed('haproxy', machine.haproxyPath),
  redisServerPath: needed('redis-server', machine.redisServerPath),
};
const words = positionals.map((word) => word.toLowerCase());
const fitting = SCENES.filter(({ title }) =>
  words.every((word) => title.toLowerCase().includes(word)),
);
const asked = drawScenes(fitting, seed, Number(values.faults));
const rules = await readRules();
process.stderr.write(`seed ${seed}: ${asked.length} faults\n`);
const table = [
  '| Fault | First line, after s | Reason, after s | Alert, after s, and its real times | Page | Unknown orders | Lists live again after s, 95 % and all | Over after s |',
  '|---|---|---|---|---|---|---|---|',
];
const missed: string[] = [];
if (drill === undefined) process.stdout.write(`${table.join('\n')}\n`);
// One iterator of all lanes: each takes the next scene when it has done with its own.
const scenes = asked.entries();
await Promise.all(Array.from({ length: Number(values['at-once']) }, actInTurn));

async function actInTurn(_: unknown, lane: number): Promise<void> {
  // Replicas that all start at once would be late for each other's probes.
  await delay(lane * APART_MS);
  for (const [at, scene] of scenes) {
    await act(at, scene).catch((error: unknown) => {
      process.exitCode = 1;
      process.stderr.write(`${at + 1}/${asked.length}: ${error}\n`);
    });
  }
}

async function act(at: number, scene: Scene): Promise<void> {
  const place = `${at + 1}/${asked.length}`;
  const named = drill === undefined ? `${place} ${scene.title}` : place;
  if (scene.needs === 'small disk' && !mayMount) {
    process.stderr.write(`${named}: left out, it needs root, to mount a small file system\n`);
    return;
  }
  const rehearsal = await rehearse(scene, {
    ...tools,
    seed: `${seed} ${scene.title}`,
    hastenedBy: isReal ? 1 : HASTENED_BY,
    // With minutes of history in place of hours, one account of sixty that fails is more than the budget.
    accounts: isReal ? 300 : 60,
    requestsPerSecond: 15,
    // As long as the longest window that a share of the last minutes is compared with.
    calmMs: isReal ? 300_000 : 15_000,
    withinMs: isReal ? 120_000 : 90_000,
    lastsMs: Number(values.lasts) * 60_000,
  });
  // A rule that counts events needs thirty times as many in a thirtieth of its window, so causes may come late.
  const several = isReal && rehearsal.pages.length > 1 ? ['several pages'] : [];
  const late = isReal ? rehearsal.latePages.map((name) => `${name} paged after its end`) : [];
  const problems = [...rehearsal.problems, ...several, ...late].join('; ');
  if (problems !== '') process.exitCode = 1;
  table.push(row(rehearsal));
  if (problems !== '') missed.push(`- ${place}: ${problems}`);
  if (drill === undefined) {
    process.stderr.write(`${named}: ${problems || 'as expected'}\n`);
    process.stdout.write(`${row(rehearsal)}\n`);
  } else {
    const folder = join(drill, String(at + 1).padStart(2, '0'));
    await mkdir(folder, { recursive: true });
    for (const [name, text] of Object.entries(rehearsal.evidence)) {
      await writeFile(join(folder, name), text);
    }
    await writeFile(join(drill, 'answers.md'), `${[...table, '', ...missed].join('\n')}\n`);
    process.stderr.write(`${named}: in ${folder}\n`);
  }
}

function row(rehearsal: Rehearsal): string {
  const { scene, alerts, lines, reasons, pages, unknown, liveAfter, resolvedAfter } = rehearsal;
  const short = (name: string) => name.replace('TradingGraph', '');
  const others = [...alerts.keys()].filter((name) => !scene.alerts.includes(name));
  const also = others.map((name) => `${short(name)} ${after(alerts.get(name))}`);
  const times = (name: string) => timesOf(rules, name) || 'at once';
  const cells = [
    scene.title,
    list((scene.lines ?? []).map(shown), lines, (says) => says),
    list(scene.reasons ?? [], reasons, (reason) => `\`${reason}\``),
    list(scene.alerts, alerts, short, (name) => ` (${times(name)})`) +
      (also.length > 0 ? `<br>also: ${also.join(', ')}` : ''),
    pages.map(short).join('<br>') || 'none',
    String(unknown),
    liveAfter.map(after).join(', '),
    after(resolvedAfter),
  ];
  return `| ${cells.join(' | ')} |`;
}

function list(
  expected: readonly string[],
  seen: Seen,
  show: (what: string) => string,
  more: (what: string) => string = () => '',
): string {
  return expected.map((what) => `${show(what)} ${after(seen.get(what))}${more(what)}`).join('<br>');
}

function after(seconds: number | null = null): string {
  return seconds === null ? '**never**' : seconds.toFixed(seconds < 10 ? 1 : 0);
}

function needed(name: string, path: string | null): string {
  if (path === null) throw new Error(`the night needs ${name}`);
  return path;
}
