import {
  type ExecutionResult,
  type ExperimentalIncrementalExecutionResults,
  executeRootSelectionSet,
  experimentalExecuteRootSelectionSet,
  type LegacyExperimentalIncrementalExecutionResults,
  legacyExecuteRootSelectionSet,
  locatedError,
  type OperationDefinitionNode,
  type ValidatedExecutionArgs,
} from 'graphql';
import { chain, type MaybePromise } from '../../../lib/maybe-promise.ts';
import { withoutStack } from '../../../lib/public-error.ts';
import { type Meter, withinBudget } from '../../core/meter.ts';
import type { Selections } from '../../core/selections.ts';
import { type CompiledOperation, compile, type Flags } from './compile.ts';
import type { Metering } from './metering.ts';
import { type NullableFields, Run } from './run.ts';

// A document that is sent once is not worth compiling. Compiling takes a third of the time of parsing and validating
// (measured). So sending a document twice costs 4/3 of that time, and less than sending two new documents, which costs 2.
const RUNS_BEFORE_COMPILING = 2;
// Each variable of an `@include` or `@skip` doubles the combinations. Clients use few of them.
const MAX_COMBINATIONS = 16;
const NO_FLAGS: Flags = new Map();

/** graphql-js's executors for answers in parts. */
const EXECUTORS_IN_PARTS = {
  deferSpec: legacyExecuteRootSelectionSet,
  incrementalSpec: experimentalExecuteRootSelectionSet,
} as const;

/** The format of an answer's parts: the proposal of 2022 (`deferSpec=20220824`), or the current one (`incrementalSpec=v0.2`). */
export type PartsFormat = keyof typeof EXECUTORS_IN_PARTS;

export type PartResults =
  | ExperimentalIncrementalExecutionResults
  | LegacyExperimentalIncrementalExecutionResults;

/**
 * Executes one operation: in its first runs with the reference executor (graphql-js), then with compiled code. Compiled code
 * reports only errors of nullable root fields. If anything else fails, the reference executor runs the whole operation
 * again. Both runs have the same context, so the reads of the first are not repeated. Mutations are never compiled, so no
 * write runs twice.
 */
export class CompilingExecutor {
  readonly #meteredSchema: Metering;
  readonly #selections: Selections;
  readonly #operation: OperationDefinitionNode;
  readonly #onCompiled: () => void;
  readonly #flagNames: readonly string[];
  /** The code for each combination of flags; null if it cannot be compiled. */
  readonly #compiledCode = new Map<string, CompiledOperation | null>();
  /** The number of fields in the compiled code. It estimates the memory of the code. */
  compiledFields = 0;
  #runs = 0;

  constructor(
    metering: Metering,
    selections: Selections,
    operation: OperationDefinitionNode,
    flagNames: readonly string[],
    onCompiled: () => void,
  ) {
    this.#meteredSchema = metering;
    this.#selections = selections;
    this.#operation = operation;
    this.#onCompiled = onCompiled;
    this.#flagNames = flagNames;
  }

  /** graphql-js has already coerced the variables in `args`. */
  execute(args: ValidatedExecutionArgs, meter: Meter): MaybePromise<ExecutionResult> {
    // A compiled operation takes a fraction of the time, so a large answer is compiled in its first run.
    if (meter.isLarge) this.compileFromNowOn();
    const code = this.#codeFor(args);
    return code === null ? this.#runReference(args, meter) : this.#runCompiled(code, args, meter);
  }

  #runCompiled(
    code: CompiledOperation,
    args: ValidatedExecutionArgs,
    meter: Meter,
  ): MaybePromise<ExecutionResult> {
    let run: Run;
    try {
      run = new Run(args.contextValue, code.argsFor(args.variableValues), code.nullable, meter);
    } catch {
      // An argument cannot be coerced, which the reference executor reports.
      return this.#runReference(args, meter);
    }
    return chain(run.answer(code.root, args.rootValue), (answer) =>
      answer === null ? this.#runReference(args, meter) : withFailures(answer, run, code.nullable),
    );
  }

  /** Executes a query with `@defer`. Its answer has one part or several. */
  executeInParts(
    args: ValidatedExecutionArgs,
    meter: Meter,
    format: PartsFormat,
  ): MaybePromise<ExecutionResult | PartResults> {
    // All parts begin at once, so that data that several of them need is read once.
    const execute = EXECUTORS_IN_PARTS[format];
    meter.begin();
    return execute({ ...args, schema: this.#meteredSchema(meter), enableEarlyExecution: true });
  }

  compileFromNowOn(): void {
    this.#runs = RUNS_BEFORE_COMPILING;
  }

  #codeFor({ variableValues }: ValidatedExecutionArgs): CompiledOperation | null {
    this.#runs += 1;
    const flags = this.#readFlags(variableValues.coerced);
    if (flags === null) return null;
    const combination = [...flags.values()].join();
    const known = this.#compiledCode.get(combination);
    if (known !== undefined) return known;
    const isRare = this.#runs < RUNS_BEFORE_COMPILING;
    if (isRare || this.#compiledCode.size >= MAX_COMBINATIONS) return null;
    const code = compile(this.#selections, this.#operation, flags);
    this.#compiledCode.set(combination, code);
    this.compiledFields += code?.size ?? 0;
    this.#onCompiled();
    return code;
  }

  /** Returns null if a flag is not a boolean, which is an error of the request. */
  #readFlags(variables: Readonly<Record<string, unknown>>): Flags | null {
    if (this.#flagNames.length === 0) return NO_FLAGS;
    const flags = new Map<string, boolean>();
    for (const name of this.#flagNames) {
      const value = variables[name];
      if (typeof value !== 'boolean') return null;
      flags.set(name, value);
    }
    return flags;
  }

  #runReference(args: ValidatedExecutionArgs, meter: Meter): MaybePromise<ExecutionResult> {
    meter.begin();
    const schema = this.#meteredSchema(meter);
    const result = executeRootSelectionSet({ ...args, schema });
    const isMutation = this.#operation.operation === 'mutation';
    return chain(result, (settled) => withinBudget(settled, meter, isMutation));
  }
}

/** Adds the errors of the root fields whose resolvers failed. An answer over its budget already has its error. */
function withFailures(
  answer: ExecutionResult,
  { failures }: Run,
  nullable: NullableFields,
): ExecutionResult {
  if (failures.length === 0 || !answer.data) return answer;
  const errors = failures.map(({ key, error }) =>
    // The cause keeps its own stack, and a stack from here would add nothing.
    withoutStack(() => locatedError(error, nullable.get(key) ?? [], [key])),
  );
  return { ...answer, errors };
}
