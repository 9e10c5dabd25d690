import { after } from '../../lib/eventually.ts';
import { type Client, singleClient } from '../../lib/limits/client.ts';
import type { Limiter, Taken } from '../../lib/limits/limiter.ts';
import { GRAPH, type GraphPlugin, type OperationContext } from '../admission/plugin.ts';
import type { Refusal } from '../admission/refusal.ts';
import { overLimit, tooManyMessages } from './over-limit-error.ts';

/**
 * Limits the operations that a client may start in a minute, over all transports, and the fields of its answers. Those
 * are known only once an answer is complete, so the one that exceeds the limit is still sent, and the next is refused.
 * Fills `client`, `headers` and `overLimit`; needs the `meter` of useCostLimit once it executes.
 */
export function useClientLimits(limiter: Limiter): GraphPlugin {
  return {
    onAdmit(context) {
      const { operation } = context;
      const client = context.clientNow();
      const { isOver } = operation.transport;
      const requests = limiter.take('requests', client, isOver ? 0 : 1);
      operation.client = client;
      operation.headers = headersOf(requests);
      operation.overLimit = isOver
        ? tooManyMessages()
        : requests.isOver
          ? overLimit(limiter.table.requests.label, secondsOf(requests))
          : owing(limiter, 'fields', client);
      return client.kind === 'account' ? operation.overLimit : null;
    },
    onExecute({ args: { contextValue }, executeFn, setExecuteFn }) {
      const context = contextValue[GRAPH];
      const { operation } = context;
      const charged = <Result>(result: Result): Result => {
        limiter.spend('fields', currentClient(context, limiter), operation.meter.fields);
        if (operation.isGivenBack) {
          limiter.giveBack(operation.overLimit === null ? 'requests' : 'reserve', operation.client);
        }
        return result;
      };
      setExecuteFn((args) => {
        // Hundreds of costly operations may have been admitted before the first of them was charged.
        const refusal = operation.meter.isCostly
          ? owing(limiter, 'fields', operation.client)
          : null;
        return after(refusal === null ? executeFn(args) : { errors: refusal.errors }, charged);
      });
    },
  };
}

/** The client as it is known by now: what was counted for its address moves to the account that it has proved. */
export function currentClient(
  { operation, clientNow }: OperationContext,
  limiter: Limiter,
): Client {
  const before = operation.client;
  const client = clientNow();
  if (client.key === before.key) return before;
  operation.client = client;
  if (client.kind === 'account') {
    limiter.move('requests', before, client);
    limiter.move('messages', before, client);
  }
  return client;
}

// Not the field `login` of a session.
const SIGNS_IN = /\blogin\s*\(/;

/**
 * Lets an operation pass although its address is over a limit, where it signs in, or has a known token to prove: nobody
 * is locked out by what neighbours send. Needs the document's text in `params`, of useTrustedDocuments, and `overLimit`.
 */
export function useReserve(limiter: Limiter): GraphPlugin {
  return { onAdmit: (context) => unlessReserved(limiter, context, context.operation.overLimit) };
}

function unlessReserved(
  limiter: Limiter,
  context: OperationContext,
  refusal: Refusal | null,
): Refusal | null {
  if (refusal === null) return null;
  const { params, transport, client } = context.operation;
  const passes = (from: Client) => (limiter.take('reserve', from).isOver ? refusal : null);
  if (transport.mayMutate && SIGNS_IN.test(params.query ?? '')) return passes(client);
  const { knownToken } = context;
  return knownToken === null ? refusal : passes(singleClient('token', knownToken));
}

/** Refuses a document that nobody has prepared, where the client's former ones had more tokens than it may send. */
export function overDocuments(limiter: Limiter, context: OperationContext): Refusal | null {
  const refusal = owing(limiter, 'documents', context.operation.client);
  return unlessReserved(limiter, context, refusal);
}

/** What is known only once it was used is refused to those who owe some. */
function owing(limiter: Limiter, name: 'fields' | 'documents', client: Client): Refusal | null {
  const taken = limiter.take(name, client, 0);
  return taken.isOver ? overLimit(limiter.table[name].label, secondsOf(taken)) : null;
}

function headersOf(taken: Taken): Readonly<Record<string, string>> {
  const left = Math.max(0, Math.floor(taken.left));
  return {
    ratelimit: `"default";r=${left};t=${secondsOf(taken)}`,
    'ratelimit-policy': `"default";q=${taken.most};w=60`,
  };
}

function secondsOf({ waitMs }: Taken): number {
  return Math.max(1, Math.ceil(waitMs / 1000));
}
