import {
  type ExecutionArgs,
  type ExecutionResult,
  executeRootSelectionSet,
  type GraphQLSchema,
  parse,
  type ValidatedExecutionArgs,
  validate,
  validateExecutionArgs,
} from 'graphql';
import { expect } from 'vitest';
import { Meter } from '../../../../src/engine/core/meter.ts';
import { Selections } from '../../../../src/engine/core/selections.ts';
import { CompilingExecutor } from '../../../../src/engine/documents/compiler/compiling-executor.ts';
import { createMetering } from '../../../../src/engine/documents/compiler/metering.ts';
import { OperationFacts } from '../../../../src/engine/documents/operation-facts.ts';
import { createRandom } from '../../../../src/sandbox/random.ts';
import { createStage, hostileSchema, type Stage } from './hostile-schema.ts';

type Given = Omit<ExecutionArgs, 'schema' | 'document'>;

/** The arguments for executing a text. Throws if its operation or variables are invalid. */
export function argsOf(schema: GraphQLSchema, text: string, given: Given = {}) {
  const args = validateExecutionArgs({ schema, document: parse(text), ...given });
  if (!('schema' in args)) throw args[0];
  return args;
}

/** A new executor, which has not run before. */
export function executorOf({ schema, document, operation }: ValidatedExecutionArgs) {
  const selections = new Selections(schema, document);
  const { flagNames } = new OperationFacts(selections, operation);
  return new CompilingExecutor(createMetering(schema), selections, operation, flagNames, () => {});
}

/** Executes the operation by the reference executor, and then by compiled code. */
export async function executeBoth(args: ValidatedExecutionArgs) {
  const counts = { reference: meterFor(args), compiled: meterFor(args) };
  const expected = await byReference(args, counts.reference);
  const compiled = executorOf(args);
  compiled.compileFromNowOn();
  const found = await compiled.execute(args, counts.compiled);
  return {
    expected,
    found,
    /** False if compiled code met a wrong value, ran the reference executor too, and so counted more. */
    isCountedAlike: counts.compiled.fields === counts.reference.fields,
    isCompiled: compiled.compiledFields > 0,
  };
}

/** Runs the reference executor as the service does, with resolvers that count fields, and compares it with graphql-js alone. */
async function byReference(args: ValidatedExecutionArgs, meter: Meter): Promise<ExecutionResult> {
  const bare = await executeRootSelectionSet(args);
  const counted = await executorOf(args).execute(args, meter);
  expectSameData(counted, bare);
  return counted;
}

function expectSameData(found: ExecutionResult, expected: ExecutionResult): void {
  expect(canonicalText({ data: found.data ?? null })).toBe(
    canonicalText({ data: expected.data ?? null }),
  );
  expect(found.errors === undefined).toBe(expected.errors === undefined);
}

/** Asserts that the document is valid and that both executors give the same answer, and returns the answers. */
export async function executeValid(text: string, given: Given = {}) {
  expect(validate(hostileSchema, parse(text))).toEqual([]);
  const answers = await executeBoth(
    argsOf(hostileSchema, text, { contextValue: conformingStage(), ...given }),
  );
  expect(canonicalText(answers.found)).toBe(canonicalText(answers.expected));
  return answers;
}

/** A stage on which all values conform to the schema. */
export function conformingStage(): Stage {
  return createStage(createRandom('calm'), 0);
}

/** A meter of the operation. Its budget is not reached, unless the test passes a lower one. */
export function meterFor(args: ValidatedExecutionArgs, maxFields = 1_000_000): Meter {
  const { schema, document, operation, variableValues } = args;
  const facts = new OperationFacts(new Selections(schema, document), operation);
  return new Meter(
    maxFields,
    facts.for(variableValues.coerced, () => 0),
  );
}

/** An answer as a text that can be compared: data in the order of its keys, errors sorted. */
export function canonicalText({ data, errors = [] }: ExecutionResult): string {
  const sorted = errors.map((error) => JSON.stringify(error)).sort();
  return JSON.stringify({ data, errors: sorted }, (_key, value) => asText(value), 1);
}

/** A custom scalar may return a value that JSON cannot represent. */
function asText(value: unknown): unknown {
  return ['bigint', 'symbol', 'function'].includes(typeof value) ? String(value) : value;
}
