import { type DirectiveNode, type DocumentNode, Kind, type TypeNode, visit } from 'graphql';
import {
  evaluate,
  MAX_PAGE_SIZE,
  type PreparedOperation,
  type SizeOf,
} from '../../engine/index.ts';

/** An operation's cost before its variables are known; what `@skip` and `@include` select counts in. */
export interface CostRange {
  /** With the defaults of the pages that variables size. */
  readonly usual: number;
  /** With the largest pages. */
  readonly most: number;
}

type Variables = Readonly<Record<string, unknown>>;

// A variable that is read by `@skip` and by `@include` is tried both ways, and only so many of them.
const MAX_TRIED_FLAGS = 10;
const MAX_LIST_LENGTH: readonly unknown[] = new Array(MAX_PAGE_SIZE);

export function costRange(
  document: DocumentNode,
  { cost, node }: PreparedOperation,
  sizeOf: SizeOf,
): CostRange {
  const flags = flagValues(document);
  const most = (numbers: Variables) => {
    const costs = flags.map((values) =>
      evaluate(cost, { variables: { ...numbers, ...values }, sizeOf }),
    );
    return Math.max(...costs);
  };
  const largest = (node.variableDefinitions ?? []).map(({ variable, type }) => [
    variable.name.value,
    isList(type) ? MAX_LIST_LENGTH : Number.MAX_SAFE_INTEGER,
  ]);
  return { usual: most({}), most: most(Object.fromEntries(largest)) };
}

function isList(type: TypeNode): boolean {
  return (type.kind === Kind.NON_NULL_TYPE ? type.type : type).kind === Kind.LIST_TYPE;
}

/** The values of the variables in `@skip` and `@include` among which the costliest is. */
function flagValues(document: DocumentNode): Variables[] {
  const included = new Set<string>();
  const skipped = new Set<string>();
  visit(document, {
    Directive(directive) {
      const name = flagName(directive);
      if (name !== null) (directive.name.value === 'include' ? included : skipped).add(name);
    },
  });
  const names = [...new Set([...included, ...skipped])];
  const fixed = Object.fromEntries(names.map((name) => [name, included.has(name)]));
  const tried = names.filter((name) => included.has(name) && skipped.has(name));
  return tried
    .slice(0, MAX_TRIED_FLAGS)
    .reduce<Variables[]>(
      (all, name) => all.flatMap((values) => [values, { ...values, [name]: false }]),
      [fixed],
    );
}

function flagName({ name, arguments: args = [] }: DirectiveNode): string | null {
  if (name.value !== 'skip' && name.value !== 'include') return null;
  const value = args.find((argument) => argument.name.value === 'if')?.value;
  return value?.kind === Kind.VARIABLE ? value.name.value : null;
}
