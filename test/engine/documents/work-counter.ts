/**
 * Counts the work of preparing documents with V8's coverage: how often each block of code is entered, which is the same on
 * any machine. Coverage has to start before the code is loaded, so this is a process of its own.
 */
import { Session } from 'node:inspector';

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

// Loaded only now, after the start of the coverage.
const { buildSchema } = await import('../../../src/schema/schema.ts');
const { Documents } = await import('../../../src/engine/documents/documents.ts');
const { buildSchema: schemaFromSdl } = await import('graphql');
const serviceSchema = buildSchema();

process.on('message', ({ text, limits, sdl }: WorkQuestion) => {
  const schema = sdl === undefined ? serviceSchema : schemaFromSdl(sdl);
  // The first run does the work that is memoized for the process.
  prepare(schema, text, limits);
  takeCounts();
  prepare(schema, text, limits);
  process.send?.(takeCounts());
});
process.send?.('ready');

export interface WorkQuestion {
  readonly text: string;
  /** The schema in SDL; by default the service's own. */
  readonly sdl?: string;
  readonly limits: import('../../../src/engine/documents/document-limits.ts').DocumentLimits;
}

function prepare(schema: typeof serviceSchema, text: string, limits: WorkQuestion['limits']): void {
  const documents = new Documents({ schema, limits, introspection: true });
  const prepared = documents.prepare(text);
  if (prepared.kind === 'invalid') return;
  const operations = [...prepared.operations.values()];
  // The facts are computed without variables, and with the size 1 for each list.
  for (const { facts } of operations) facts.for({}, () => 1);
  // A request coerces the variables of only one operation.
  const operationName = operations.at(-1)?.node.name?.value;
  try {
    documents.executionArgs(prepared.document, { operationName, variableValues: {} });
  } catch {
    // A required variable is missing.
  }
}

/** How many blocks of code were entered since the last call. */
function takeCounts(): number {
  let sum = 0;
  session.post('Profiler.takePreciseCoverage', (error, { result }) => {
    if (error) throw error;
    for (const { functions } of result) {
      for (const { ranges } of functions) for (const { count } of ranges) sum += count;
    }
  });
  return sum;
}
