/**
 * The worst that one signed-in account can do to the others, by documents that searches over the schema have found.
 * `node bench/hostile.ts [--quick | --full] [--set NAME=value] [--documents]` prints Markdown.
 * `--kind grammar` is about the size of documents: the largest of each thing that the grammar can repeat.
 * `--kind bytes` is about what is sent instead: fragments, chunks, control frames, pipelines. With it go `--through haproxy`
 * or `nginx` (three replicas), `--source` (another checkout), `--only` (a part of a sender's name), `--seconds`, `--sink`.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { pinOwnProcess } from './support/cores.ts';
import { FRONTS, type Front } from './support/hostile/bytes/bytes-ground.ts';
import { runBytes } from './support/hostile/bytes/run-bytes.ts';
import { runGrammar } from './support/hostile/run-grammar.ts';
import { runHostile } from './support/hostile/run-hostile.ts';

const PACES = {
  quick: { leastTries: 5, damageMs: 1_000 },
  usual: { leastTries: 10, damageMs: 5_000 },
  full: { leastTries: 50, damageMs: 60_000 },
};

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    set: { type: 'string', multiple: true, default: [] },
    documents: { type: 'boolean', default: false },
    instruments: { type: 'string', default: '10000' },
    positions: { type: 'string', default: '400' },
    kind: { type: 'string' },
    through: { type: 'string', default: 'direct' },
    source: { type: 'string' },
    only: { type: 'string' },
    seconds: { type: 'string' },
    sink: { type: 'boolean', default: false },
  },
});
const pace = values.full ? PACES.full : values.quick ? PACES.quick : PACES.usual;

const common = {
  ...pace,
  settings: Object.fromEntries(values.set.map(toSetting)),
};

pinOwnProcess();
if (values.kind === 'bytes') await printBytes();
else if (values.kind === 'grammar') await printGrammar();
else if (values.kind === undefined) await printDocuments();
else throw new Error(`--kind ${values.kind}: must be bytes or grammar, or be left out`);

async function printDocuments(): Promise<void> {
  const { findings, text } = await runHostile({
    ...common,
    holdings: {
      instruments: Number(values.instruments),
      positions: Number(values.positions),
      tickMs: 100,
    },
  });
  print(
    `### One hostile account: ${values.positions} positions in one symbol and as many pending orders, ${values.instruments} instruments`,
  );
  print(text);
  if (!values.documents) return;
  for (const { name, document } of findings) print(`${name}:\n\n${document.text}`);
}

async function printGrammar(): Promise<void> {
  const holdings = { instruments: 500, positions: 0, tickMs: 1_000 };
  const { text } = await runGrammar({ ...common, holdings });
  print('### The largest document of each thing that the grammar can repeat, sent once');
  print(text);
}

async function printBytes(): Promise<void> {
  const { through, source, only, seconds, sink } = values;
  if (!isFront(through)) throw new Error(`--through ${through}: must be ${FRONTS.join(', ')}`);
  const { text } = await runBytes({
    ...common,
    damageMs: seconds === undefined ? common.damageMs : 1_000 * Number(seconds),
    // The sender has no account, so nobody holds much.
    holdings: { instruments: 500, positions: 0, tickMs: 1_000 },
    front: through,
    script: source === undefined ? undefined : resolve(source, 'src/main.ts'),
    only,
    withSink: sink,
  });
  print(`### What hostile senders do to the others, ${through}`);
  print(text);
}

function isFront(text: string): text is Front {
  return FRONTS.some((front) => front === text);
}

function toSetting(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new Error(`--set ${text}: must be NAME=value`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function print(text: string): void {
  process.stdout.write(`${text}\n\n`);
}
