/**
 * The worst that one signed-in account can do to the others, found by a search over the schema.
 * `node bench/hostile.ts [--quick | --full] [--seed 1] [--set NAME=value] [--documents]` prints Markdown.
 */
import { parseArgs } from 'node:util';
import { pinOwnProcess } from './support/cores.ts';
import { runHostile } from './support/hostile/run-hostile.ts';

const PACES = {
  quick: { searchMs: 1_000, leastTries: 5, damageMs: 1_000 },
  usual: { searchMs: 6_000, leastTries: 10, damageMs: 5_000 },
  full: { searchMs: 30_000, leastTries: 50, damageMs: 60_000 },
};

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    set: { type: 'string', multiple: true, default: [] },
    documents: { type: 'boolean', default: false },
    instruments: { type: 'string', default: '10000' },
    positions: { type: 'string', default: '400' },
  },
});
const pace = values.full ? PACES.full : values.quick ? PACES.quick : PACES.usual;

pinOwnProcess();
const { findings, text } = await runHostile({
  ...pace,
  seed: values.seed,
  holdings: {
    instruments: Number(values.instruments),
    positions: Number(values.positions),
    tickMs: 100,
  },
  settings: Object.fromEntries(values.set.map(toSetting)),
});
print(
  `### One hostile account: ${values.positions} positions in one symbol and as many pending orders, ${values.instruments} instruments, seed ${values.seed}`,
);
print(text);
if (values.documents) {
  for (const { kind, document } of findings) {
    if (document) print(`${kind}:\n\n${document.text}\n\n${JSON.stringify(document.variables)}`);
  }
}

function toSetting(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new Error(`--set ${text}: must be NAME=value`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function print(text: string): void {
  process.stdout.write(`${text}\n\n`);
}
