/**
 * The longest stop of an app by a catalog of 5,000 instruments, all fields, on engines that compile nothing: Hermes, where npm
 * has it for this machine, and Node. `npm run bench -- phones` prints Markdown.
 */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { table } from './support/markdown.ts';
import type { CatalogStops } from './support/phones/catalog-stops.ts';
import { hermesPath, instruments, onHermes, onNode } from './support/phones/run-phones.ts';

await using folder = await mkdtempDisposable(join(tmpdir(), 'phones-'));
const given = { rows: await instruments(5_000), rounds: 5, folder: folder.path };
const stops: Record<string, CatalogStops> = { 'node --jitless': await onNode(given) };
const hermes = await hermesPath().catch((error: Error) => {
  process.stderr.write(`Without Hermes: ${error.message}\n`);
  return null;
});
if (hermes !== null) stops['Hermes 0.12'] = await onHermes(hermes, given);

const row = (what: string, of: (stops: CatalogStops) => number) => [
  what,
  ...Object.values(stops).map((each) => of(each).toFixed(1)),
];
const rows = [
  row('first load, in one answer', ({ firstLoad }) => firstLoad),
  row('first load, in parts', ({ firstLoadInParts }) => firstLoadInParts),
  row('restart', ({ restart }) => restart),
  row('save of 40 in a row', ({ save }) => save),
  row('`search`, the slowest of eight texts', ({ search }) => search),
  row('kB of a save', ({ savedKb }) => savedKb),
];
console.log(table(['the longest stop, ms', ...Object.keys(stops)], rows));
