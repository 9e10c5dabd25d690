import type { ApolloLink } from '@apollo/client/link';

type Values = Record<string, unknown>;

/**
 * The variables of a subscription, read again for each new connection. If the subscription follows a live list, such as
 * `positionChanges`, its variable for `after` is the cursor of the last event. Without such a variable each connection
 * begins with the whole list.
 */
export class ResumedVariables {
  readonly #given: Values;
  readonly #name: string | null;
  #cursor: string | null = null;

  constructor({ query, variables }: Pick<ApolloLink.Operation, 'query' | 'variables'>) {
    this.#given = variables;
    const after = query.definitions
      .flatMap((each) => (each.kind === 'OperationDefinition' ? each.selectionSet.selections : []))
      .flatMap((node) => (node.kind === 'Field' ? (node.arguments ?? []) : []))
      .find(({ name }) => name.value === 'after')?.value;
    this.#name = after?.kind === 'Variable' ? after.name.value : null;
  }

  variables(): Values {
    if (this.#name === null || this.#cursor === null) return this.#given;
    return { ...this.#given, [this.#name]: this.#cursor };
  }

  /** Notes the cursor of an event. A subscription has one field, which may have an alias. */
  note(data: Values | null): void {
    const [event] = Object.values(data ?? {}) as readonly ({ cursor?: unknown } | null)[];
    if (typeof event?.cursor === 'string') this.#cursor = event.cursor;
  }
}
