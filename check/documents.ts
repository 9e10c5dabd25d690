import { setImmediate } from 'node:timers/promises';
import { createExecutors, Documents, ManifestError, readManifests } from '../engine/index.ts';
import { readArguments, UsageError } from '../src/cli/arguments.ts';
import { type Command, EXIT_FAILED, EXIT_OK, type Terminal } from '../src/cli/dispatch.ts';
import { type Config, readConfig } from '../src/config.ts';
import { federated } from '../src/schema/federation.ts';
import { perInstrument, sizeOf } from '../src/schema/list-sizes.ts';
import { buildSchema } from '../src/schema/schema.ts';
import {
  type DocumentReport,
  type OperationReport,
  reportOn,
} from './documents/document-report.ts';
import { fieldsOf } from './documents/schema-use.ts';
import { Progress } from './progress.ts';

/** Says of trusted documents what the server would, before they are published. */
export const documentsCommand: Command = {
  usage: [
    'Usage: trading-graph documents check [<manifest> …] [--json] [--fields] [--instruments <number>]',
    '',
    'Checks each trusted document against the schema and the limits of this configuration: whether it is',
    'valid, the cost that the server estimates, what it uses that is deprecated; and for each field of the',
    'schema, how many documents use it. A manifest is a file or a folder of files, in the formats that the',
    'server reads; PERSISTED_DOCUMENTS when none is given. MAX_COST and the other limits count as they do',
    'for the server.',
    '',
    '  --json         the whole report as JSON',
    '  --fields       lists every field with its number of documents',
    '  --instruments  the size of the catalog, where a document reads all of it; 1000 when left out',
    '',
    'Exit code: 0 all are fine, 1 one is invalid or over MAX_COST, 2 a faulty command line.',
  ].join('\n'),
  async run(args, terminal) {
    const asked = readAsked(args, terminal);
    try {
      const report = await check(asked, readConfig(terminal.environment), terminal);
      const lines = asked.json ? [jsonOf(report)] : linesOf(report, asked.fields);
      for (const line of lines) terminal.out(line);
      return report.documents.every((one) => isFine(one, report.maxCost)) ? EXIT_OK : EXIT_FAILED;
    } catch (problem) {
      if (!(problem instanceof ManifestError)) throw problem;
      for (const reason of problem.reasons) terminal.err(reason);
      return EXIT_FAILED;
    }
  },
};

interface Asked {
  readonly paths: readonly string[];
  readonly json: boolean;
  readonly fields: boolean;
  readonly instruments: number;
}

const USUAL_INSTRUMENTS = '1000';

function readAsked(args: readonly string[], { environment }: Terminal): Asked {
  const given = readArguments({
    args: [...args],
    options: {
      json: { type: 'boolean', default: false },
      fields: { type: 'boolean', default: false },
      instruments: { type: 'string', default: USUAL_INSTRUMENTS },
    },
    allowPositionals: true,
  });
  const [word, ...named] = given.positionals;
  if (word !== 'check') throw new UsageError('Say: trading-graph documents check <manifest> …');
  const { json, fields, instruments } = given.values;
  if (!/^\d{1,9}$/.test(instruments)) {
    throw new UsageError(`--instruments=${instruments}: must be a whole number`);
  }
  const configured = environment.PERSISTED_DOCUMENTS;
  const paths = named.length === 0 && configured ? [configured] : named;
  if (paths.length === 0) throw new UsageError('Name a manifest, or set PERSISTED_DOCUMENTS.');
  return { paths, json, fields, instruments: Number(instruments) };
}

interface Report {
  readonly maxCost: number;
  readonly documents: readonly DocumentReport[];
  /** How many documents use each field of the schema. */
  readonly fields: ReadonlyMap<string, number>;
}

async function check(
  { paths, instruments }: Asked,
  config: Config,
  terminal: Terminal,
): Promise<Report> {
  const own = buildSchema();
  const schema = config.federation ? federated(own) : own;
  // The person at the console has the schema anyway, so suggestions disclose nothing.
  const documents = new Documents({
    schema,
    limits: config,
    introspection: true,
    executors: createExecutors(schema),
  });
  const fields = new Map(fieldsOf(schema).map((field) => [field, 0]));
  const texts = await readManifests(...paths);
  const known = (name: string) => (name === perInstrument.listSize ? instruments : 0);
  const reports: DocumentReport[] = [];
  using _ = new Progress(terminal, () => `… ${reports.length} of ${texts.size} documents`);
  for (const [id, text] of texts) {
    const report = reportOn(id, text, { schema, documents, sizeOf: (name) => sizeOf(name, known) });
    reports.push(report);
    if (report.valid)
      for (const field of report.fields) fields.set(field, (fields.get(field) ?? 0) + 1);
    // Lets the progress be said.
    await setImmediate();
  }
  return { maxCost: config.maxCost, documents: reports, fields };
}

function isFine(report: DocumentReport, maxCost: number): boolean {
  return report.valid && report.operations.every(({ cost }) => cost <= maxCost);
}

function jsonOf({ maxCost, documents, fields }: Report): string {
  const report = {
    ok: documents.every((one) => isFine(one, maxCost)),
    maxCost,
    documents: documents.map((one) => ({
      ...one,
      ...(one.valid && { fields: [...one.fields].sort(), isOverMaxCost: !isFine(one, maxCost) }),
    })),
    fields: Object.fromEntries(fields),
  };
  return JSON.stringify(report, null, 2);
}

function linesOf(report: Report, listsFields: boolean): string[] {
  const { maxCost, documents, fields } = report;
  const rows = documents.flatMap((one) =>
    one.valid ? one.operations.map((operation) => rowOf(operation, maxCost)) : [],
  );
  const widths = [0, 1, 2].map((column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const aligned = rows.map(([type = '', name = '', cost = '', remark = '']) =>
    `${type.padEnd(widths[0] ?? 0)}  ${name.padEnd(widths[1] ?? 0)}  cost ${cost.padStart(widths[2] ?? 0)}${remark}`.trimEnd(),
  );
  const blocks = [
    aligned,
    documents.flatMap((one) => invalidLines(one)),
    deprecatedLines(documents),
    [summaryOf(report)],
    listsFields ? fieldLines(fields) : unusedLines(fields),
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]));
}

function rowOf({ type, name, cost, mostCost }: OperationReport, maxCost: number): string[] {
  return [type, name ?? '(no name)', figure(cost), remarkOf(cost, mostCost, maxCost)];
}

function remarkOf(cost: number, mostCost: number, maxCost: number): string {
  if (cost > maxCost) return '  OVER MAX_COST: it is never answered';
  if (mostCost > maxCost)
    return `  up to ${figure(mostCost)} with the largest pages, which are refused`;
  return mostCost > cost ? `  up to ${figure(mostCost)} with the largest pages` : '';
}

function invalidLines(report: DocumentReport): string[] {
  if (report.valid) return [];
  const errors = report.errors.map(({ message, code, locations: [first] }) => {
    const place = first ? ` (line ${first.line}, column ${first.column})` : '';
    return `  ${code}: ${message}${place}`;
  });
  return [`INVALID  ${report.id}`, ...errors];
}

function deprecatedLines(documents: readonly DocumentReport[]): string[] {
  const lines = documents.flatMap((one) =>
    one.valid
      ? Object.entries(one.deprecated).map(
          ([coordinate, reason]) => `  ${namesOf(one.operations)} uses ${coordinate}: ${reason}`,
        )
      : [],
  );
  return lines.length === 0 ? [] : ['Deprecated', ...lines];
}

function namesOf(operations: readonly OperationReport[]): string {
  return operations.map(({ name }) => name ?? '(no name)').join(', ');
}

function summaryOf({ documents, maxCost }: Report): string {
  const invalid = documents.filter(({ valid }) => !valid).length;
  const fine = documents.filter((one) => isFine(one, maxCost)).length;
  const over = documents.length - fine - invalid;
  const parts = [
    `${count(documents.length, 'document')}: ${fine} fine`,
    invalid > 0 && `${invalid} invalid`,
    over > 0 && `${over} over MAX_COST`,
  ];
  return `${parts.filter(Boolean).join(', ')}. MAX_COST is ${figure(maxCost)}.`;
}

function fieldLines(fields: ReadonlyMap<string, number>): string[] {
  const width = Math.max(...[...fields.values()].map((times) => String(times).length));
  return [
    'Documents that use each field',
    ...[...fields].map(([field, times]) => `  ${String(times).padStart(width)}  ${field}`),
  ];
}

/** One line for each type, since a schema has hundreds of fields. */
function unusedLines(fields: ReadonlyMap<string, number>): string[] {
  const types = new Map<string, { all: number; unused: number }>();
  for (const [field, times] of fields) {
    const name = field.slice(0, field.indexOf('.'));
    const type = types.get(name) ?? { all: 0, unused: 0 };
    type.all += 1;
    if (times === 0) type.unused += 1;
    types.set(name, type);
  }
  const wholly = [...types].filter(([, { all, unused }]) => unused === all).map(([name]) => name);
  const partly = [...types]
    .filter(([, { all, unused }]) => unused > 0 && unused < all)
    .map(([name, { all, unused }]) => `${name} (${unused} of ${all})`);
  const unused = [...fields.values()].filter((times) => times === 0).length;
  return [
    `${fields.size - unused} of ${fields.size} fields of the schema are used; --fields lists each.`,
    ...(wholly.length > 0 ? wrapped(`Types of which nothing is used: ${wholly.join(', ')}.`) : []),
    ...(partly.length > 0 ? wrapped(`Unused in part: ${partly.join(', ')}.`) : []),
  ];
}

const LINE_WIDTH = 100;

function wrapped(text: string): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line.length + word.length >= LINE_WIDTH) lines.push(`  ${word}`);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}

function figure(value: number): string {
  return value.toLocaleString('en');
}

function count(value: number, noun: string): string {
  return `${figure(value)} ${noun}${value === 1 ? '' : 's'}`;
}
