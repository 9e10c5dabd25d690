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

/** A schema for both executors: as it is, and as a run that counts sees it. */
export interface ExecutableSchema {
  readonly schema: GraphQLSchema;
  readonly metering: Metering;
}

export function executableSchema(schema: GraphQLSchema): ExecutableSchema {
  return { schema, metering: new Metering(schema) };
}

/** An operation with its conditions decided one way. */
interface Variant {
  runs: number;
  /** Null: it cannot be compiled. */
  code: CompiledCode | null | undefined;
}

// Measured, compiling costs a third of what parsing and checking the document has cost: whoever sends
// documents just to have them compiled gains nothing by it. What comes once is not worth even that.
const RUNS_BEFORE_COMPILING = 2;
// Flags double them; a client uses few of the combinations.
const MAX_VARIANTS = 16;
const NO_FLAGS: Flags = new Map();

/**
 * One operation's execution: by the reference executor until it has shown that it comes often, then
 * by code made for it. That code knows how to answer and nothing of errors. Where anything is amiss
 * its work is thrown away and the reference executor begins anew over the same context, where what
 * was read is remembered: so each error, its place and what it takes along are the reference's own.
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
    shelf: CompiledCodeCache,
  ) {
    this.#schemas = schemas;
    this.#document = document;
    this.#operation = operation;
    this.#codeCache = shelf;
    this.#flagNames = flagNames(document, operation);
  }

  /** `args` have passed the reference executor's own check of variables. */
  execute(args: ValidatedExecutionArgs, meter: Meter): Eventually<ExecutionResult> {
    // Much is answered in slices, and the reference executor's are coarser: it is compiled at once.
    if (meter.isCostly) this.#runsBefore = 1;
    const code = this.#codeFor(args);
    const answer = code && run(code, args, meter);
    if (answer instanceof Promise) {
      return answer.then((whole) => whole ?? this.#reference(args, meter));
    }
    return answer ?? this.#reference(args, meter);
  }

  /** Without waiting for many runs: for documents that are known to be used. */
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
      ? result.then((arrived) => withinBudget(arrived, meter, isMutation))
      : withinBudget(result, meter, isMutation);
  }
}

/** Null where the answer would not be whole. */
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
