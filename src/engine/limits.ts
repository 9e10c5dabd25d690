import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLError,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { requestError } from '../schema/public-error.ts';

export interface StructureLimits {
  readonly maxTokens: number;
  readonly maxDepth: number;
  readonly maxAliases: number;
  readonly maxDirectives: number;
}

interface Shape {
  readonly depth: number;
  readonly aliases: number;
  readonly directives: number;
}

const MAX_MUTATION_FIELDS = 5;
const MAX_LOGINS = 1;

export function tooComplex(limit: string, value: number, maximum: number): GraphQLError {
  return requestError('QUERY_TOO_COMPLEX', `The request passes a limit: ${limit}.`, {
    limit,
    value,
    maximum,
  });
}

/**
 * The structure of what would be carried out, fragments unfolded. It runs before validation, which
 * itself can be made expensive, and looks at each fragment once: a chain of fragments that doubles
 * at every link is counted, not walked.
 */
export function structureErrors(document: DocumentNode, limits: StructureLimits): GraphQLError[] {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      fragments.set(definition.name.value, definition);
    }
  }
  const measure = measurer(fragments);
  const errors: GraphQLError[] = [];
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    const shape = measure(definition.selectionSet);
    const directives = shape.directives + (definition.directives?.length ?? 0);
    if (shape.depth > limits.maxDepth) {
      errors.push(tooComplex('MAX_DEPTH', shape.depth, limits.maxDepth));
    }
    if (shape.aliases > limits.maxAliases) {
      errors.push(tooComplex('MAX_ALIASES', shape.aliases, limits.maxAliases));
    }
    if (directives > limits.maxDirectives) {
      errors.push(tooComplex('MAX_DIRECTIVES', directives, limits.maxDirectives));
    }
    errors.push(...mutationErrors(definition, fragments));
  }
  return errors;
}

function measurer(fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
  const known = new Map<string, Shape>();
  const NOTHING: Shape = { depth: 0, aliases: 0, directives: 0 };

  function ofFragment(name: string): Shape {
    const before = known.get(name);
    if (before) return before;
    const fragment = fragments.get(name);
    // A cycle measures nothing here and is refused by validation.
    known.set(name, NOTHING);
    if (!fragment) return NOTHING;
    const shape = measure(fragment.selectionSet);
    known.set(name, shape);
    return shape;
  }

  function measure(selectionSet: SelectionSetNode): Shape {
    let depth = 0;
    let aliases = 0;
    let directives = 0;
    for (const selection of selectionSet.selections) {
      directives += selection.directives?.length ?? 0;
      const inner =
        selection.kind === Kind.FRAGMENT_SPREAD
          ? ofFragment(selection.name.value)
          : selection.selectionSet
            ? measure(selection.selectionSet)
            : NOTHING;
      if (selection.kind === Kind.FIELD && selection.alias) aliases += 1;
      depth = Math.max(depth, inner.depth + (selection.kind === Kind.FIELD ? 1 : 0));
      aliases += inner.aliases;
      directives += inner.directives;
    }
    return { depth, aliases, directives };
  }

  return measure;
}

function mutationErrors(
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): GraphQLError[] {
  if (operation.operation !== 'mutation') return [];
  let fields = 0;
  let logins = 0;
  const open = new Set<string>();
  const walk = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      // Enough is known: whatever comes, it is refused.
      if (fields > MAX_MUTATION_FIELDS) return;
      if (selection.kind === Kind.FIELD) {
        fields += 1;
        if (selection.name.value === 'login') logins += 1;
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        walk(selection.selectionSet);
      } else {
        const name = selection.name.value;
        const fragment = fragments.get(name);
        if (!fragment || open.has(name)) continue;
        open.add(name);
        walk(fragment.selectionSet);
        open.delete(name);
      }
    }
  };
  walk(operation.selectionSet);
  const errors: GraphQLError[] = [];
  if (fields > MAX_MUTATION_FIELDS) {
    errors.push(tooComplex('mutation fields', fields, MAX_MUTATION_FIELDS));
  }
  if (logins > MAX_LOGINS) errors.push(tooComplex('login fields', logins, MAX_LOGINS));
  return errors;
}
