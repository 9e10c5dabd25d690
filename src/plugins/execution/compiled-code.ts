import type { OperationDefinitionNode, VariableValues } from 'graphql';
import { spareMaglev } from '../../lib/maglev.ts';
import type { Selections } from '../documents/selections.ts';
import { type GeneratedCode, generate } from './generated-code.ts';
import { type Flags, irOf, type OperationIr, type RootField } from './operation-ir.ts';

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
    selections: Selections,
    operation: OperationDefinitionNode,
    flags: Flags,
  ): CompiledCode | null {
    const ir = irOf(selections, operation, flags);
    if (ir === null) return null;
    spareMaglev(ir.size);
    return new CompiledCode(generate(ir), ir);
  }

  /** Throws where a field's arguments cannot be coerced. */
  argsFor(variables: VariableValues): readonly unknown[] {
    if (this.#areFixed) return this.#args;
    return this.#args.map((each) => (typeof each === 'function' ? each(variables) : each));
  }
}

/** Null where a flag is not a boolean, which is an error of the request. */
export function readFlags(
  names: readonly string[],
  variables: Readonly<Record<string, unknown>>,
): Flags | null {
  const flags = new Map<string, boolean>();
  for (const name of names) {
    const value = variables[name];
    if (typeof value !== 'boolean') return null;
    flags.set(name, value);
  }
  return flags;
}
