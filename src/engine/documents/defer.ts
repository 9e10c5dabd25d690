import { type DocumentNode, Kind, type ValueNode, visit } from 'graphql';

/** The document without `@defer`: its answer is one piece. */
export function withoutDefer(document: DocumentNode): DocumentNode {
  return visit(document, {
    Directive: ({ name }) => (name.value === 'defer' ? null : undefined),
  });
}

/** What is left of a document without the fragments that may be deferred; `variables` decide of some. */
export function withoutDeferred(document: DocumentNode) {
  const variables = new Set<string>();
  const fragment = ({ directives = [] }: Deferrable) => {
    const defer = directives.find(({ name }) => name.value === 'defer');
    if (defer === undefined) return undefined;
    const condition = defer.arguments?.find(({ name }) => name.value === 'if')?.value;
    if (condition?.kind === Kind.BOOLEAN && !condition.value) return undefined;
    if (condition?.kind === Kind.VARIABLE) variables.add(condition.name.value);
    return null;
  };
  const rest = visit(document, { InlineFragment: fragment, FragmentSpread: fragment });
  return { rest, variables: [...variables] };
}

interface Deferrable {
  readonly directives?:
    | readonly {
        readonly name: { readonly value: string };
        readonly arguments?:
          | readonly { readonly name: { readonly value: string }; readonly value: ValueNode }[]
          | undefined;
      }[]
    | undefined;
}
