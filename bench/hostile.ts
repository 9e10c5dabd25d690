/**
 * The worst that one signed-in account can do to the others, by documents that searches over the schema have found.
 * `npm run bench -- hostile [--quick] [--seconds 5] [--only <part of a name>] [--set NAME=value]` prints Markdown.
 * `--kind bytes` is about what is sent instead: fragments, chunks, control frames, pipelines.
 */
import { parseArgs } from 'node:util';
import { pinOwnProcess } from './support/cores.ts';
import { documentAttacks, senderAttacks } from './support/hostile/attacks.ts';
import { runHostile } from './support/hostile/run-hostile.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    seconds: { type: 'string' },
    set: { type: 'string', multiple: true, default: [] },
    instruments: { type: 'string', default: '10000' },
    positions: { type: 'string', default: '400' },
    kind: { type: 'string', default: 'documents' },
    only: { type: 'string', default: '' },
  },
});
const { kind, only, quick } = values;
if (!['documents', 'bytes'].includes(kind)) throw new Error('--kind: must be documents or bytes');
const attacks = kind === 'bytes' ? senderAttacks() : documentAttacks();

pinOwnProcess();
const { text } = await runHostile({
  attacks: attacks.filter(({ name }) => name.includes(only)),
  // A sender of bytes has no account, so nobody holds much.
  positions: kind === 'bytes' ? 0 : Number(values.positions),
  instruments: kind === 'bytes' ? 500 : Number(values.instruments),
  ms: 1_000 * Number(values.seconds ?? (quick ? 1 : 5)),
  settings: Object.fromEntries(values.set.map((setting) => setting.split('=', 2))),
});
process.stdout.write(`${text}\n`);
