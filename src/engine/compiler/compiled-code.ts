import type { DocumentNode, GraphQLSchema, OperationDefinitionNode, VariableValues } from 'graphql';
import type { Flags } from './flags.ts';
import { type GeneratedCode, generate } from './generated-code.ts';
import { irOf, type OperationIr, type RootField } from './operation-ir.ts';

/** One operation with its conditions decided, as a function. */
export class CompiledCode {
  readonly root: GeneratedCode['root'];
  readonly rootFields: readonly RootField[];
  readonly size: number;
  readonly #args: GeneratedCode['args'];
  readonly #areFixed: boolean;

  private constructor({ root, args }: GeneratedCode, { rootFields, size }: OperationIr) {
    this.root = root;
    this.rootFields = rootFields;
    this.size = size;
    this.#args = args;
    this.#areFixed = args.every((each) => typeof each !== 'function');
  }

  /** Null where the operation is left to the reference executor. */
  static of(
    schema: GraphQLSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    flags: Flags,
  ): CompiledCode | null {
    const ir = irOf(schema, document, operation, flags);
    return ir && new CompiledCode(generate(ir), ir);
  }

  /** Throws where a field's arguments cannot be coerced. */
  argsFor(variables: VariableValues): readonly unknown[] {
    if (this.#areFixed) return this.#args;
    return this.#args.map((each) => (typeof each === 'function' ? each(variables) : each));
  }
}
