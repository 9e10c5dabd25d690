/**
 * A night of faults against three replicas behind haproxy, with a Redis, under a real Prometheus: what tells of each, and
 * when. `npm run night -- [--seed 7] [--faults 10] [words of a title …]` draws from test/support/night/scenes.ts and prints
 * the table of docs/operations.md; an empty cell of it is a failure. With `--drill folder` nothing names a fault: what told
 * of each goes into a folder of its own, and the table into answers.md.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { haproxyPath, prometheusPath, redisServerPath } from '../test/support/machine.ts';
import { readRules, timesOf } from '../test/support/night/prometheus.ts';
import { type Rehearsal, rehearse, type Sighting } from '../test/support/night/rehearse.ts';
import { drawScenes, SCENES } from '../test/support/night/scenes.ts';
import { mayMount } from '../test/support/night/small-disk.ts';

const HASTENED_BY = 30;

if (prometheusPath === null) throw new Error('the night needs prometheus, or PROMETHEUS_PATH');
if (haproxyPath === null) throw new Error('the night needs haproxy, or HAPROXY_PATH');
if (redisServerPath === null) throw new Error('the night needs redis-server, or REDIS_SERVER_PATH');
const { values, positionals } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 10_000)) },
    faults: { type: 'string', default: String(SCENES.length) },
    drill: { type: 'string' },
  },
  allowPositionals: true,
});
const { seed, drill } = values;
const words = positionals.map((word) => word.toLowerCase());
const fitting = SCENES.filter(({ title }) =>
  words.every((word) => title.toLowerCase().includes(word)),
);
const asked = drawScenes(fitting, seed, Number(values.faults));
const rules = await readRules();
process.stderr.write(`seed ${seed}: ${asked.length} faults\n`);
const table = [
  '| Fault | First line, after s | Reason, after s | Alert, after s, and its real times | Runbook | Over after s |',
  '|---|---|---|---|---|---|',
];
const missed: string[] = [];
if (drill === undefined) process.stdout.write(`${table.join('\n')}\n`);
for (const [at, scene] of asked.entries()) {
  const place = `${at + 1}/${asked.length}`;
  const named = drill === undefined ? `${place} ${scene.title}` : place;
  if (scene.needs === 'small disk' && !mayMount) {
    process.stderr.write(`${named}: left out, it needs root, to mount a small file system\n`);
    continue;
  }
  const rehearsal = await rehearse(scene, {
    prometheusPath,
    haproxyPath,
    redisServerPath,
    seed: `${seed} ${scene.title}`,
    hastenedBy: HASTENED_BY,
    accounts: 60,
    requestsPerSecond: 15,
    calmMs: 15_000,
    withinMs: 90_000,
  });
  const problems = rehearsal.problems.join('; ');
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

function row({ scene, alerts, others, lines, reasons, resolvedAfter }: Rehearsal): string {
  const short = (name: string) => name.replace('TradingGraph', '');
  const also = others.map(({ what, seconds }) => `${short(what)} ${shown(seconds)}`);
  const cells = [
    scene.title,
    list(lines, (says) => says),
    list(reasons, (reason) => `\`${reason}\``),
    alerts
      .map(
        ({ what, seconds }) =>
          `${short(what)} ${shown(seconds)} (${timesOf(rules, what) || 'at once'})`,
      )
      .join('<br>') + (also.length > 0 ? `<br>also: ${also.join(', ')}` : ''),
    alerts.map(({ what }) => `[${short(what)}](#${what.toLowerCase()})`).join('<br>'),
    shown(resolvedAfter),
  ];
  return `| ${cells.join(' | ')} |`;
}

function list(sightings: readonly Sighting[], show: (what: string) => string): string {
  return sightings.map(({ what, seconds }) => `${show(what)} ${shown(seconds)}`).join('<br>');
}

function shown(seconds: number | null): string {
  return seconds === null ? '**never**' : seconds.toFixed(seconds < 10 ? 1 : 0);
}
