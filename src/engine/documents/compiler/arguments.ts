import {
  type ArgumentNode,
  type FieldNode,
  getArgumentValues,
  Kind,
  type VariableValues,
} from 'graphql';
import type { Field } from './selections.ts';

type Values = Readonly<Record<string, unknown>>;
export type ArgumentsOf = (variables: VariableValues) => readonly Values[];

const NO_VARIABLES: VariableValues = { sources: Object.create(null), coerced: Object.create(null) };

/** Thrown where an operation selects what only the reference executor executes. */
export class NotCompilableError extends Error {}

/** The arguments of the resolvers that an operation calls. Those without variables are read once. */
export class Arguments {
  readonly #all: (Values | ((variables: VariableValues) => Values))[] = [];

  /** Returns the index of the field's arguments. */
  add(field: Field, node: FieldNode): number {
    const read = (variables: VariableValues) => getArgumentValues(field, node, variables);
    try {
      const values = node.arguments?.some(mayHoldVariable) ? read : read(NO_VARIABLES);
      return this.#all.push(values) - 1;
    } catch (error) {
      throw new NotCompilableError('arguments that cannot be read', { cause: error });
    }
  }

  reader(): ArgumentsOf {
    const all = this.#all;
    const constant = all.filter((each) => typeof each !== 'function');
    if (constant.length === all.length) return () => constant;
    return (variables) => all.map((each) => (typeof each === 'function' ? each(variables) : each));
  }
}

/** Whether an argument may depend on a variable. True for any list or object, because searching it at each use is slow. */
function mayHoldVariable({ value: { kind } }: ArgumentNode): boolean {
  return kind === Kind.VARIABLE || kind === Kind.LIST || kind === Kind.OBJECT;
}
