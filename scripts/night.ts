/**
 * Faults of the gateway, one after the other, before a service with traffic under a real Prometheus and Alertmanager with the
 * rules and routes of `deploy/prometheus`: a table of the alerts that tell of each, and of the page. Times and windows
 * of the rules, and the waits of Alertmanager, are a thirtieth of what the files say.
 * `npm run night -- [words of a title …]`
 */
import { alertmanagerPath, prometheusPath } from '../test/support/machine.ts';
import { rehearse } from '../test/support/night/rehearse.ts';
import { SCENES } from '../test/support/night/scenes.ts';

if (prometheusPath === null || alertmanagerPath === null) {
  throw new Error('the night needs prometheus and prometheus-alertmanager');
}
const words = process.argv.slice(2).map((word) => word.toLowerCase());
process.stdout.write('| Fault | Alerts, after s | Page |\n|---|---|---|\n');
for (const scene of SCENES) {
  if (!words.every((word) => scene.title.toLowerCase().includes(word))) continue;
  const { fired, pages, isOver } = await rehearse(scene, { prometheusPath, alertmanagerPath });
  const missed = scene.alerts.filter((name) => !fired.has(name));
  if (missed.length > 0 || !isOver) process.exitCode = 1;
  const told = [
    ...[...fired].map(([name, seconds]) => `${name} ${seconds.toFixed(0)}`),
    ...missed.map((name) => `**never ${name}**`),
    ...(isOver ? [] : ['**not over with the fault**']),
  ];
  process.stdout.write(`| ${scene.title} | ${told.join('<br>')} | ${pages.join('<br>')} |\n`);
}
