import type { ApolloLink } from '@apollo/client/link';
import type { FieldNode } from 'graphql';

type Values = Record<string, unknown>;

const FOLLOWED = new Set(['positionChanges', 'accountChanges']);

/**
 * The variables of a subscription, which are asked for on each new line: where it follows `positionChanges` or
 * `accountChanges`, its variable for `after` is the cursor of the last event. Without such a variable each line begins with a whole list.
 */
export class ResumedVariables {
  readonly #given: Values;
  readonly #field: FieldNode | undefined;
  readonly #name: string | null;
  #cursor: string | null = null;

  constructor({ query, variables }: Pick<ApolloLink.Operation, 'query' | 'variables'>) {
    this.#given = variables;
    this.#field = query.definitions
      .flatMap((definition) =>
        definition.kind === 'OperationDefinition' ? definition.selectionSet.selections : [],
      )
      .find((node) => node.kind === 'Field' && FOLLOWED.has(node.name.value)) as
      | FieldNode
      | undefined;
    const after = this.#field?.arguments?.find(({ name }) => name.value === 'after')?.value;
    this.#name = after?.kind === 'Variable' ? after.name.value : null;
  }

  variables(): Values {
    if (this.#name === null || this.#cursor === null) return this.#given;
    return { ...this.#given, [this.#name]: this.#cursor };
  }

  note(data: Values | null): void {
    const { alias, name } = this.#field ?? {};
    const event = data?.[(alias ?? name)?.value ?? ''] as { cursor?: unknown } | undefined;
    if (typeof event?.cursor === 'string') this.#cursor = event.cursor;
  }
}
