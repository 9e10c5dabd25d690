import {
  type DirectiveNode,
  type DocumentNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  visit,
} from 'graphql';

/** The values of the variables in `@include` and `@skip`. */
export type Flags = ReadonlyMap<string, boolean>;

/** The names of the flags; it may list some that only another operation of the document uses. */
export function flagNames(
  document: DocumentNode,
  { variableDefinitions = [] }: OperationDefinitionNode,
): readonly string[] {
  const own = new Set(variableDefinitions.map(({ variable }) => variable.name.value));
  const names = new Set<string>();
  visit(document, {
    [Kind.DIRECTIVE](directive) {
      const value = conditionOf(directive);
      if (value?.kind === Kind.VARIABLE) names.add(value.name.value);
    },
  });
  return [...names].filter((name) => own.has(name));
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

export function isIncluded({ directives = [] }: SelectionNode, flags: Flags): boolean {
  return directives.every((directive) => {
    const value = conditionOf(directive);
    if (!value) return true;
    const isTrue = value.kind === Kind.VARIABLE ? flags.get(value.name.value) : readLiteral(value);
    return isTrue === (directive.name.value === 'include');
  });
}

function conditionOf({ name, arguments: args }: DirectiveNode) {
  if (name.value !== 'skip' && name.value !== 'include') return null;
  return args?.find((argument) => argument.name.value === 'if')?.value ?? null;
}

function readLiteral(value: NonNullable<ReturnType<typeof conditionOf>>): boolean | undefined {
  return value.kind === Kind.BOOLEAN ? value.value : undefined;
}
