import { after } from '../../lib/eventually.ts';
import type { Client } from '../operation.ts';
import type { GraphPlugin, OperationContext } from '../plugin.ts';

export interface ClientKeyOptions<Context> {
  readonly clientOf: (context: Context) => Client;
  /** Called when an operation has proved whose it is: what was counted for one is the other's. */
  readonly onProved: (from: Client, to: Client) => void;
}

/** Determines the client that the limits behind it count against, and once more when the operation is executed. */
export function useClientKey<Context extends OperationContext>(
  options: ClientKeyOptions<Context>,
): GraphPlugin {
  return {
    onAdmit(context) {
      context.operation.client = options.clientOf(context as Context);
      return null;
    },
    onExecute({ args: { contextValue }, executeFn, setExecuteFn }) {
      if (contextValue.operation.client.kind === 'account') return;
      setExecuteFn((args) =>
        after(executeFn(args), (result) => {
          provedClient(contextValue as Context, options);
          return result;
        }),
      );
    },
  };
}

/** The client as it is known by now. */
export function provedClient<Context extends OperationContext>(
  context: Context,
  { clientOf, onProved }: ClientKeyOptions<Context>,
): Client {
  const { operation } = context;
  const { client } = operation;
  if (client.kind === 'account') return client;
  const known = clientOf(context);
  // A token that was refused meanwhile takes back nothing that it has counted.
  if (known.kind === 'address' || known.key === client.key) return client;
  operation.client = known;
  onProved(client, known);
  return known;
}
