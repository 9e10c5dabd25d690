import {
  type ExecutionResult,
  executeRootSelectionSet,
  experimentalExecuteRootSelectionSet,
  type GraphQLSchema,
  legacyExecuteRootSelectionSet,
  locatedError,
  type OperationDefinitionNode,
  type ValidatedExecutionArgs,
} from 'graphql';
import { chain, type MaybePromise } from '../../lib/maybe-promise.ts';
import { withoutStack } from '../../lib/stackless-error.ts';
import type { Executors, OperationExecutor, PartResults } from '../documents/documents.ts';
import type { Selections } from '../documents/selections.ts';
import { type Meter, withinBudget } from '../operation/meter.ts';
import type { PartsFormat } from '../operation/transport-context.ts';
import { CompiledCodeCache, readFlags } from './compiled-code.ts';
import { type CompiledCode, compile, type Flags } from './generated-code.ts';
import { createMetering, type Metering } from './metering.ts';
import { type NullableFields, Run } from './run.ts';

/** An operation with the values of `@include` and `@skip` fixed. */
interface Variant {
  runs: number;
  /** Null means that it cannot be compiled. */
  code: CompiledCode | null | undefined;
}

const NOT_COMPILED: Readonly<Variant> = { runs: 0, code: undefined };

// Compiling takes a third of the time of parsing and validating, as measured, so a flood of new
// documents gains nothing by it. A document that is sent once is not worth compiling.
const RUNS_BEFORE_COMPILING = 2;
// Each flag doubles the variants; a client uses few of the combinations.
const MAX_VARIANTS = 16;
const NO_FLAGS: Flags = new Map();

const IN_PARTS = {
  deferSpec: legacyExecuteRootSelectionSet,
  incrementalSpec: experimentalExecuteRootSelectionSet,
} as const satisfies Record<PartsFormat, unknown>;

/** The executors of a schema, whose compiled code has one bound for all of the process. */
export function createExecutors(schema: GraphQLSchema): Executors {
  const metering = createMetering(schema);
  const codeCache = new CompiledCodeCache();
  return {
    get byteSize() {
      return codeCache.byteSize;
    },
    create: (selections, operation) =>
      new CompilingExecutor(metering, selections, operation, codeCache),
  };
}

/**
 * Executes one operation: by the reference executor while it is rare, then by compiled code, which reports one kind of
 * error, that of a nullable root field. Where anything else fails the reference executor runs all again with the same
 * memoized context.
 */
export class CompilingExecutor implements OperationExecutor {
  readonly #metering: Metering;
  readonly #selections: Selections;
  readonly #operation: OperationDefinitionNode;
  readonly #codeCache: CompiledCodeCache;
  readonly #flagNames: readonly string[];
  readonly #variants = new Map<string, Variant>();
  #runsBefore = RUNS_BEFORE_COMPILING;

  constructor(
    metering: Metering,
    selections: Selections,
    operation: OperationDefinitionNode,
    codeCache: CompiledCodeCache,
  ) {
    this.#metering = metering;
    this.#selections = selections;
    this.#operation = operation;
    this.#codeCache = codeCache;
    this.#flagNames = (operation.variableDefinitions ?? [])
      .map(({ variable }) => variable.name.value)
      .filter((name) => selections.flagNames.has(name));
  }

  execute(args: ValidatedExecutionArgs, meter: Meter): MaybePromise<ExecutionResult> {
    // A costly one may have waited for its turn longer than its client.
    if (meter.isCostly && meter.isOverNow()) return { data: null, errors: [meter.error()] };
    // Compiled code yields in finer slices, so a large answer is compiled on its first run.
    if (meter.isCostly) this.#runsBefore = 1;
    const code = this.#codeFor(args);
    return code === null ? this.#reference(args, meter) : this.#compiled(code, args, meter);
  }

  #compiled(
    code: CompiledCode,
    args: ValidatedExecutionArgs,
    meter: Meter,
  ): MaybePromise<ExecutionResult> {
    let run: Run;
    try {
      run = new Run(args.contextValue, code.argsFor(args.variableValues), code.nullable, meter);
    } catch {
      // An argument cannot be coerced.
      return this.#reference(args, meter);
    }
    return chain(run.answer(code.root, args.rootValue), (answer) =>
      answer === null ? this.#reference(args, meter) : withFailures(answer, run, code.nullable),
    );
  }

  executeInParts(
    args: ValidatedExecutionArgs,
    meter: Meter,
    format: PartsFormat,
  ): MaybePromise<ExecutionResult | PartResults> {
    // All parts begin at once: what several of them read is read once.
    return IN_PARTS[format]({ ...args, schema: this.#metering(meter), enableEarlyExecution: true });
  }

  compile(): void {
    this.#runsBefore = 1;
    if (this.#flagNames.length === 0) this.#variant('', NO_FLAGS);
  }

  release(): void {
    for (const { code } of this.#variants.values()) if (code) this.#codeCache.delete(code);
  }

  #codeFor({ variableValues }: ValidatedExecutionArgs): CompiledCode | null {
    if (this.#flagNames.length === 0) return this.#variant('', NO_FLAGS);
    const flags = readFlags(this.#flagNames, variableValues.coerced);
    return flags && this.#variant([...flags.values()].join(), flags);
  }

  #variant(name: string, flags: Flags): CompiledCode | null {
    let variant = this.#variants.get(name);
    if (!variant) {
      if (this.#variants.size >= MAX_VARIANTS) return null;
      variant = { ...NOT_COMPILED };
      this.#variants.set(name, variant);
    }
    if (variant.code) this.#codeCache.get(variant.code);
    if (variant.code !== undefined) return variant.code;
    variant.runs += 1;
    if (variant.runs < this.#runsBefore) return null;
    const code = compile(this.#selections, this.#operation, flags);
    variant.code = code;
    if (code) this.#codeCache.set(code, () => Object.assign(variant, NOT_COMPILED));
    return code;
  }

  #reference(args: ValidatedExecutionArgs, meter: Meter): MaybePromise<ExecutionResult> {
    meter.restart();
    const schema = this.#metering(meter);
    const result = executeRootSelectionSet({ ...args, schema });
    const isMutation = this.#operation.operation === 'mutation';
    return chain(result, (settled) => withinBudget(settled, meter, isMutation));
  }
}

/** The answer with the errors of the fields of the root whose resolvers failed; one over its budget has its own. */
function withFailures(
  answer: ExecutionResult,
  { failures }: Run,
  nullable: NullableFields,
): ExecutionResult {
  if (failures.length === 0 || !answer.data) return answer;
  const errors = failures.map(({ key, error }) =>
    // The cause keeps its own stack, and this one would only lead here.
    withoutStack(() => locatedError(error, nullable.get(key) ?? [], [key])),
  );
  return { ...answer, errors };
}
