import type { GraphQLSchema } from 'graphql';
import { clientOf, type RequestCaller } from '../../lib/caller.ts';
import { traitOf } from '../../lib/field-traits.ts';
import { type Client, singleClient } from '../../lib/limits/client.ts';
import type { Taken } from '../../lib/limits/limiter.ts';
import { ENGINE_LIMITS, type EngineLimiter } from '../operation/limits.ts';
import { overLimit, tooManyMessages } from '../operation/over-limit-error.ts';
import { type Refusal, withHeaders } from '../operation/refusal.ts';
import type { TransportContext } from '../operation/transport-context.ts';
import type { Operation } from './operation.ts';

export interface ClientLimitsOptions {
  readonly limiter: EngineLimiter;
  readonly schema: GraphQLSchema;
}

/** A request that was charged to its client before anything of it is read. */
export interface ChargedRequest {
  readonly kind: 'request';
  readonly caller: RequestCaller;
  readonly client: Client;
  /** The parameters, which are JSON of any shape. */
  readonly sent: unknown;
  readonly mayMutate: boolean;
  /** The headers of the response, whatever it is. */
  readonly headers: Readonly<Record<string, string>>;
  /** The refusal of a request whose address is over a limit, unless the reserve lets it pass. */
  readonly overLimit: Refusal | null;
}

/** A request that its client may send, with the text of its document. */
export interface PassedRequest extends ChargedRequest {
  readonly text: string;
}

export type ClientLimits = ReturnType<typeof createClientLimits>;

/**
 * Limits the operations that a client may start in a minute, over all transports, and the fields of its answers. Those
 * are known only once an answer is complete, so the one that exceeds the limit is still sent, and the next is refused.
 */
export function createClientLimits({ limiter, schema }: ClientLimitsOptions) {
  const signIn = signInPattern(schema);

  function unlessReserved(refusal: Refusal | null, passed: PassedRequest): Refusal | null {
    if (refusal === null) return null;
    const { caller, client, mayMutate, text } = passed;
    const spare = (from: Client) => (limiter.take('reserve', from).isOver ? refusal : null);
    if (mayMutate && signIn?.test(text)) return spare(client);
    const { token, standing } = caller;
    return token && standing?.isKnown ? spare(singleClient('token', token.hash)) : refusal;
  }

  /** Refuses a client that owes some of what is counted only once it was used. */
  function owing(name: 'fields' | 'documents', client: Client): Refusal | null {
    const taken = limiter.take(name, client, 0);
    return taken.isOver ? overLimit(ENGINE_LIMITS[name].label, secondsOf(taken)) : null;
  }

  /** The client as it is known by now: what was counted for its address moves to the account that it has proved. */
  function currentClient(operation: Operation): Client {
    const before = operation.client;
    const client = operation.clientNow();
    if (client.key === before.key) return before;
    operation.client = client;
    if (client.kind === 'account') {
      limiter.move('requests', before, client);
      limiter.move('messages', before, client);
    }
    return client;
  }

  return {
    limiter,
    currentClient,
    /** Refuses an account over its limit at once; an address may have its reserve, once the document is known. */
    charge(
      caller: RequestCaller,
      { sent, mayMutate, isOver }: TransportContext,
    ): ChargedRequest | Refusal {
      const client = clientOf(caller);
      const requests = limiter.take('requests', client, isOver ? 0 : 1);
      const headers = headersOf(requests);
      const refusal = isOver
        ? tooManyMessages()
        : requests.isOver
          ? overLimit(ENGINE_LIMITS.requests.label, secondsOf(requests))
          : owing('fields', client);
      if (refusal !== null && client.kind === 'account') return withHeaders(refusal, headers);
      return { kind: 'request', caller, client, sent, mayMutate, headers, overLimit: refusal };
    },
    /** Lets a sign-in, or a known token to prove, pass its address's limit: neighbours lock nobody out. */
    pass(
      charged: ChargedRequest,
      { query: text }: { readonly query: string },
    ): PassedRequest | Refusal {
      const passed = { ...charged, text };
      return unlessReserved(charged.overLimit, passed) ?? passed;
    },
    /** Refuses a document that nobody has prepared, where the client's former ones had more tokens than it may send. */
    overDocuments: (passed: PassedRequest) =>
      unlessReserved(owing('documents', passed.client), passed),
    /** The function by which a caller's client is asked for again; it holds nothing but the caller. */
    clientNow: (caller: RequestCaller) => () => clientOf(caller),
    /** Refuses a costly operation: hundreds may have been admitted before the first of them was charged. */
    overFields: ({ meter, client }: Operation) => (meter.isCostly ? owing('fields', client) : null),
    /** Refuses an event to a client that owes fields. */
    overEvents: (client: Client) => owing('fields', client),
    /** Charges the fields of a result, which are known once it is made. */
    chargeFields(operation: Operation): void {
      limiter.spend('fields', currentClient(operation), operation.meter.fields);
      if (!operation.isRefunded) return;
      limiter.giveBack(operation.usesReserve ? 'reserve' : 'requests', operation.client);
    },
  };
}

/**
 * Finds a sign-in in the text of a document that is not prepared yet. With its bracket, since other types may have fields
 * of these names; null where the schema marks no field.
 */
function signInPattern(schema: GraphQLSchema): RegExp | null {
  const fields = Object.values(schema.getMutationType()?.getFields() ?? {});
  const names = fields.filter((each) => traitOf(each, 'isSignIn')).map(({ name }) => name);
  return names.length > 0 ? new RegExp(`\\b(?:${names.join('|')})\\s*\\(`) : null;
}

function headersOf(taken: Taken): Readonly<Record<string, string>> {
  const left = Math.max(0, Math.floor(taken.left));
  return {
    ratelimit: `"default";r=${left};t=${secondsOf(taken)}`,
    'ratelimit-policy': `"default";q=${taken.max};w=60`,
  };
}

function secondsOf({ waitMs }: Taken): number {
  return Math.max(1, Math.ceil(waitMs / 1000));
}
