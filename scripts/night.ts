// A night of faults, acted against the service under a real Prometheus: which alert tells of each, and when.
// `npm run night [words of a title …]` prints the table of docs/operations.md; it takes a quarter of an hour.
import { prometheusPath, redisServerPath } from '../test/support/machine.ts';
import { readRules, timesOf } from '../test/support/night/prometheus.ts';
import { type Rehearsal, rehearse } from '../test/support/night/rehearse.ts';
import { SCENES } from '../test/support/night/scenes.ts';
import { mayMount } from '../test/support/night/small-disk.ts';

const HASTENED_BY = 20;

if (prometheusPath === null) throw new Error('the night needs prometheus, or PROMETHEUS_PATH');
const words = process.argv.slice(2).map((word) => word.toLowerCase());
const asked = SCENES.filter(({ title }) =>
  words.every((word) => title.toLowerCase().includes(word)),
);
const rules = await readRules();
process.stdout.write(
  `| Scene | Alerts, after s | Their real times | The log's line, after s | Readiness | Over after s |
|---|---|---|---|---|---|
`,
);
for (const [at, scene] of asked.entries()) {
  const lacks =
    (scene.needs === 'redis' && redisServerPath === null && 'redis-server') ||
    (scene.needs === 'small disk' && !mayMount && 'root, to mount a small file system');
  if (lacks) {
    process.stderr.write(`${at + 1}/${asked.length} ${scene.title}: left out, it needs ${lacks}\n`);
    continue;
  }
  const rehearsal = await rehearse(scene, {
    prometheusPath,
    redisServerPath,
    hastenedBy: HASTENED_BY,
    accounts: 200,
    requestsPerSecond: 10,
    calmMs: 15_000,
    withinMs: 150_000,
  });
  const problems = rehearsal.problems.join('; ');
  if (problems !== '') process.exitCode = 1;
  process.stderr.write(`${at + 1}/${asked.length} ${scene.title}: ${problems || 'as expected'}\n`);
  process.stdout.write(`${row(rehearsal)}\n`);
}

function row({ scene, alerts, others, lines, reasons, resolvedAfter }: Rehearsal): string {
  const link = (name: string) => `[${name.replace('TradingGraph', '')}](#${name.toLowerCase()})`;
  const all = alerts.map(({ name, seconds }) => `${link(name)} ${shown(seconds)}`);
  const also = others.map(({ name, seconds }) => `${link(name)} ${shown(seconds)}`);
  const cells = [
    scene.title,
    all.join('<br>') + (also.length > 0 ? `<br>also: ${also.join(', ')}` : ''),
    alerts.map(({ name }) => timesOf(rules, name) || 'none').join('<br>'),
    lines.map(({ says, seconds }) => `${says} ${shown(seconds)}`).join('<br>') || '–',
    reasons.map((reason) => `\`${reason}\``).join(', ') || 'ok',
    shown(resolvedAfter),
  ];
  return `| ${cells.join(' | ')} |`;
}

function shown(seconds: number | null): string {
  return seconds === null ? 'never' : seconds.toFixed(seconds < 10 ? 1 : 0);
}
