import {
  type DocumentNode,
  type ExecutionResult,
  executeRootSelectionSet,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type ValidatedExecutionArgs,
} from 'graphql';
import { withinBudget } from '../limits/budget-end.ts';
import type { Meter } from '../limits/meter.ts';
import { Metering } from '../limits/metering.ts';
import { CompiledCode } from './compiled-code.ts';
import type { CompiledCodeCache } from './compiled-code-cache.ts';
import { type Flags, flagNames, readFlags } from './flags.ts';
import { Run } from './run.ts';

type Eventually<T> = T | Promise<T>;

/** A schema for both executors: as it is, and instrumented to count fields. */
export interface ExecutableSchema {
  readonly schema: GraphQLSchema;
  readonly metering: Metering;
}

export function executableSchema(schema: GraphQLSchema): ExecutableSchema {
  return { schema, metering: new Metering(schema) };
}

/** An operation with the values of `@include` and `@skip` fixed. */
interface Variant {
  runs: number;
  /** Null means that it cannot be compiled. */
  code: CompiledCode | null | undefined;
}

// Compiling takes a third of the time of parsing and validating, as measured, so a flood of new
// documents gains nothing by it. A document that is sent once is not worth compiling.
const RUNS_BEFORE_COMPILING = 2;
// Each flag doubles the variants; a client uses few of the combinations.
const MAX_VARIANTS = 16;
const NO_FLAGS: Flags = new Map();

/**
 * Executes one operation: with the reference executor while it is rare, then with compiled code.
 * Compiled code builds a complete answer and reports no errors. On any failure its result is
 * discarded and the reference executor starts over with the same memoized context, so that every
 * error, its path and its null propagation are the reference executor's own.
 */
export class CompiledOperation {
  readonly #schemas: ExecutableSchema;
  readonly #document: DocumentNode;
  readonly #operation: OperationDefinitionNode;
  readonly #codeCache: CompiledCodeCache;
  readonly #flagNames: readonly string[];
  readonly #variants = new Map<string, Variant>();
  #runsBefore = RUNS_BEFORE_COMPILING;

  constructor(
    schemas: ExecutableSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    codeCache: CompiledCodeCache,
  ) {
    this.#schemas = schemas;
    this.#document = document;
    this.#operation = operation;
    this.#codeCache = codeCache;
    this.#flagNames = flagNames(document, operation);
  }

  /** `args` have passed the reference executor's own check of variables. */
  execute(args: ValidatedExecutionArgs, meter: Meter): Eventually<ExecutionResult> {
    // Compiled code yields in finer slices than the reference executor, so a large answer is
    // compiled on its first run.
    if (meter.isCostly) this.#runsBefore = 1;
    const code = this.#codeFor(args);
    const answer = code && run(code, args, meter);
    if (answer instanceof Promise) {
      return answer.then((whole) => whole ?? this.#reference(args, meter));
    }
    return answer ?? this.#reference(args, meter);
  }

  /** Compiles on the first run, for documents that are known to be used. */
  compile(): void {
    this.#runsBefore = 1;
    if (this.#flagNames.length === 0) this.#variant('', NO_FLAGS);
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
      variant = { runs: 0, code: undefined };
      this.#variants.set(name, variant);
    }
    if (variant.code) this.#codeCache.used(variant.code);
    if (variant.code !== undefined) return variant.code;
    variant.runs += 1;
    if (variant.runs < this.#runsBefore) return null;
    return this.#compile(variant, flags);
  }

  #compile(variant: Variant, flags: Flags): CompiledCode | null {
    const { schema } = this.#schemas;
    const code = CompiledCode.of(schema, this.#document, this.#operation, flags);
    variant.code = code;
    if (code) {
      this.#codeCache.put(code, () => {
        variant.runs = 0;
        variant.code = undefined;
      });
    }
    return code;
  }

  #reference(args: ValidatedExecutionArgs, meter: Meter): Eventually<ExecutionResult> {
    meter.restart();
    const schema = this.#schemas.metering.for(meter);
    const result = executeRootSelectionSet({ ...args, schema });
    const isMutation = this.#operation.operation === 'mutation';
    return result instanceof Promise
      ? result.then((settled) => withinBudget(settled, meter, isMutation))
      : withinBudget(result, meter, isMutation);
  }
}

/** Null where the answer would not be complete. */
function run(
  code: CompiledCode,
  { contextValue, rootValue, variableValues }: ValidatedExecutionArgs,
  meter: Meter,
): Eventually<ExecutionResult | null> {
  let args: readonly unknown[];
  try {
    args = code.argsFor(variableValues);
  } catch {
    return null;
  }
  return new Run(contextValue, args, meter).answer(code.root, rootValue);
}
