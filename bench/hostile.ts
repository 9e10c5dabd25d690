/**
 * The worst that one signed-in account can do to the others, by documents that searches over the schema have found.
 * `npm run bench -- hostile [--quick] [--seconds 5] [--only <part of a name>] [--set NAME=value]` prints Markdown.
 */
import { parseArgs } from 'node:util';
import { pinOwnProcess } from './support/cores.ts';
import { KNOWN_DOCUMENTS } from './support/hostile/known-documents.ts';
import { runHostile } from './support/hostile/run-hostile.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    seconds: { type: 'string' },
    set: { type: 'string', multiple: true, default: [] },
    only: { type: 'string', default: '' },
  },
});
const { only, quick } = values;

pinOwnProcess();
const { text } = await runHostile({
  attacks: KNOWN_DOCUMENTS.filter(({ name }) => name.includes(only)),
  positions: 400,
  instruments: 10_000,
  ms: 1_000 * Number(values.seconds ?? (quick ? 1 : 5)),
  settings: Object.fromEntries(values.set.map((setting) => setting.split('=', 2))),
});
process.stdout.write(`${text}\n`);
