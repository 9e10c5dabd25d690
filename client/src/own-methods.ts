import type { BaseCore } from './base-core.ts';
import type { Client } from './create-client.ts';

type OwnMethods = Pick<
  Client,
  'query' | 'mutate' | 'login' | 'onAccountChange' | 'tokenChanged' | 'dispose'
>;

/** The methods that every client has, whatever else it does. */
export function ownMethods(core: BaseCore): OwnMethods {
  return {
    query: (operation, ...[variables, own]) =>
      // The types let variables be left out only where the operation has none.
      core.request(operation, variables as NonNullable<typeof variables>, {
        repeats: true,
        ...own,
      }),
    mutate: (operation, ...[variables, own]) =>
      core.request(operation, variables as NonNullable<typeof variables>, own),
    get login() {
      return core.login;
    },
    onAccountChange: (listener) => core.onAccountChange(listener),
    tokenChanged: () => core.tokenChanged(),
    dispose: () => core.dispose(),
  };
}
