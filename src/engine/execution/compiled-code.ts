import type { OperationDefinitionNode, VariableValues } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Selections } from '../documents/selections.ts';
import { generate } from './generated-code.ts';
import { type Flags, irOf, type NullableFields } from './operation-ir.ts';
import type { RunRoot } from './run.ts';

/** One operation with its conditions decided, as a function. */
export interface CompiledCode {
  readonly root: RunRoot;
  readonly nullable: NullableFields;
  readonly size: number;
  /** Throws where a field's arguments cannot be coerced. */
  readonly argsFor: (variables: VariableValues) => readonly unknown[];
}

/** Null where the operation is left to the reference executor. */
export function compile(
  selections: Selections,
  operation: OperationDefinitionNode,
  flags: Flags,
): CompiledCode | null {
  const ir = irOf(selections, operation, flags);
  if (ir === null) return null;
  const { nullable, size } = ir;
  const { root, args } = generate(ir);
  const areFixed = args.every((each) => typeof each !== 'function');
  const read = (variables: VariableValues) =>
    args.map((each) => (typeof each === 'function' ? each(variables) : each));
  return { root, nullable, size, argsFor: areFixed ? () => args : read };
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

const MAX_FIELDS = 40_000;
// Measured, roughly.
const BYTES_PER_FIELD = 1_024;

/** All compiled code of the process, each with what is called once it is dropped. */
export class CompiledCodeCache extends LRUCache<CompiledCode, () => void> {
  constructor() {
    super({
      maxSize: MAX_FIELDS,
      sizeCalculation: (_dropped, { size }) => 1 + size,
      dispose: (dropped) => dropped(),
    });
  }

  get byteSize(): number {
    return this.calculatedSize * BYTES_PER_FIELD;
  }
}
