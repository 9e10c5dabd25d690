import {
  type DocumentNode,
  type ExecutionResult,
  executeRootSelectionSet,
  Kind,
  type OperationDefinitionNode,
  parse,
  type ValidatedExecutionArgs,
  validate,
  validateExecutionArgs,
} from 'graphql';
import { expect } from 'vitest';
import { COSTLY_FIELDS, Meter } from '../../../engine/cost/meter.ts';
import { createMetering } from '../../../engine/cost/metering.ts';
import { Selections } from '../../../engine/documents/selections.ts';
import { CompiledCodeCache } from '../../../engine/execution/compiled-code.ts';
import { CompilingExecutor } from '../../../engine/execution/compiling-executor.ts';
import { FairScheduler } from '../../../lib/fair-scheduler.ts';
import { createRandom } from '../../../sandbox/random.ts';
import { createStage, hostileSchema, type Stage } from './hostile-schema.ts';

export interface Question {
  readonly text: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly operationName?: string;
  readonly stage?: Stage;
  readonly rootValue?: unknown;
}

export interface Answers {
  readonly expected: ExecutionResult;
  readonly found: ExecutionResult;
  /** Else compiled code has left a wrong value to the reference executor, and what it ran itself counts as well. */
  readonly isCountedAlike: boolean;
  /** True where the operation has compiled code. */
  readonly isCompiled: boolean;
}

/**
 * The same by both, at once and in slices: first the reference executor, then compiled code. Null: the
 * variables are wrong.
 */
export async function ask(question: Question): Promise<Answers | null> {
  const args = argsOf(question);
  if (args === null) return null;
  const counts = { reference: meterFor(), compiled: meterFor() };
  const expected = await byReference(question, args, counts.reference);
  const codeCache = new CompiledCodeCache();
  const compiled = compiledFrom(args.document, question.operationName, codeCache);
  compiled.compile();
  const found = await compiled.execute(args, counts.compiled);
  expectSameData(await compiled.execute(args, slicedMeter(COSTLY_FIELDS + 1)), expected);
  const isCountedAlike = counts.compiled.fields === counts.reference.fields;
  return { expected, found, isCountedAlike, isCompiled: codeCache.calculatedSize > 0 };
}

/**
 * As this project runs the reference executor: its resolvers count. It answers like the bare one; only
 * which of several errors under a null is found first can differ, since lists take a tick longer.
 */
async function byReference(
  { operationName }: Question,
  args: ValidatedExecutionArgs,
  meter: Meter,
): Promise<ExecutionResult> {
  const bare = await executeRootSelectionSet(args);
  const counted = await compiledFrom(args.document, operationName, new CompiledCodeCache()).execute(
    args,
    meter,
  );
  expectSameData(counted, bare);
  const sliced = compiledFrom(args.document, operationName, new CompiledCodeCache());
  // Costly from the first field on: an answer that is costly before would be compiled.
  expectSameData(await sliced.execute(args, slicedMeter(COSTLY_FIELDS)), bare);
  return counted;
}

function expectSameData(found: ExecutionResult, expected: ExecutionResult): void {
  expect(shown({ data: found.data ?? null })).toBe(shown({ data: expected.data ?? null }));
  expect(found.errors === undefined).toBe(expected.errors === undefined);
}

export async function askValid(question: Question): Promise<Answers> {
  expect(validate(hostileSchema, parse(question.text))).toEqual([]);
  const answers = await ask(question);
  if (answers === null) throw new Error('the variables do not fit');
  expect(shown(answers.found)).toBe(shown(answers.expected));
  return answers;
}

export function argsOf(question: Question): ValidatedExecutionArgs | null {
  const { text, variables = {}, operationName, stage = calmStage(), rootValue } = question;
  const validated = validateExecutionArgs({
    schema: hostileSchema,
    document: parse(text),
    contextValue: stage,
    variableValues: variables,
    ...(operationName && { operationName }),
    rootValue,
  });
  return 'schema' in validated ? validated : null;
}

export function compiledFrom(
  document: DocumentNode,
  name: string | undefined,
  codeCache: CompiledCodeCache,
) {
  const operation = document.definitions.find(
    (one): one is OperationDefinitionNode =>
      one.kind === Kind.OPERATION_DEFINITION && (name === undefined || one.name?.value === name),
  );
  return new CompilingExecutor(
    metering,
    new Selections(hostileSchema, document),
    operation as OperationDefinitionNode,
    codeCache,
  );
}

const metering = createMetering(hostileSchema);

/** A budget that is not reached, and one slice however slow the machine is, unless the test says so. */
export function meterFor(
  maxFields = 1_000_000,
  estimate = 0,
  sliceMs = Number.POSITIVE_INFINITY,
  signal?: AbortSignal,
): Meter {
  const scheduler = new FairScheduler(sliceMs);
  return new Meter({ maxFields, estimate, scheduler, client: 'somebody', signal });
}

/** An answer in the slices of a scheduler that leaves no time to any but the first. */
function slicedMeter(fields: number): Meter {
  const meter = meterFor(1_000_000, 0, 0);
  meter.fields = fields;
  return meter;
}

function calmStage(): Stage {
  return createStage(createRandom('calm'), 0);
}

/** The answer as a client reads it: data in the order of its keys, errors in the order of their paths. */
export function shown({ data, errors = [] }: ExecutionResult): string {
  const sorted = errors.map((error) => JSON.stringify(error)).sort();
  return JSON.stringify({ data, errors: sorted }, (_key, value) => asText(value), 1);
}

/** A custom scalar may return a value that JSON cannot represent. */
function asText(value: unknown): unknown {
  return ['bigint', 'symbol', 'function'].includes(typeof value) ? String(value) : value;
}
