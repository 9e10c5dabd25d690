import type { GraphQLError } from 'graphql';
import type { RequestCaller } from '../../lib/caller.ts';
import { runInCore } from '../../lib/extension-code.ts';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import type { Operation } from '../admission/operation.ts';
import type { OperationContext, ReadingContext } from '../admission/operation-context.ts';
import type { Subscribed } from '../execution/begin-events.ts';
import type { Refusal } from '../operation/refusal.ts';
import type { TransportContext } from '../operation/transport-context.ts';

/** The keys under which a view has what is the service's own: every other name is free for plugins. */
export const GRAPH = Symbol('graph');
export const REQUEST = Symbol('request');

/** A request as yoga's hooks are given it, from its first one on. */
export interface PluginRequest {
  readonly caller: RequestCaller;
  readonly transport: TransportContext;
  /** Null until it is admitted. */
  operation: Operation | null;
}

/** An operation that is admitted, and that plugins have parsed and validated. */
export interface OpenedOperation {
  readonly kind: 'opened';
  readonly operation: Operation;
  /** The result, or the events of a subscription. */
  start(): MaybePromise<Subscribed | Refusal>;
}

/** The context of an operation as other plugins see and extend it. */
export class PluginView {
  readonly [REQUEST]: PluginRequest;
  /** The sender of the operation, with the text of the token. */
  readonly caller: Omit<RequestCaller, 'token'> & { readonly token: string | null };
  [name: string]: unknown;

  constructor(caller: RequestCaller, transport: TransportContext) {
    this[REQUEST] = { caller, transport, operation: null };
    this.caller = { ...caller, token: caller.token?.text ?? null };
  }

  /** The request over HTTP; undefined for an operation of a socket. */
  get request(): Request | undefined {
    const request = runInCore(() => this[REQUEST].transport.toRequest?.());
    this.request = request;
    return request;
  }

  set request(value: Request | undefined) {
    Object.defineProperty(this, 'request', { value, writable: true, enumerable: true });
  }
}

/** The view of an admitted operation, as envelop's hooks are given it. */
export type PluginContext = PluginView & { readonly [GRAPH]: OperationContext };

/** Whether an error has a code of ours, as a client is sent it. */
export function isOurs({ extensions }: GraphQLError): boolean {
  return typeof extensions?.retryable === 'boolean' && extensions.http === undefined;
}

const VIEW = Symbol('view');
type Viewed = { [VIEW]?: object };

/** Completes the view with the context of what was admitted, which other plugins are shown by it from then on. */
export function admittedView(view: PluginView, context: OperationContext): PluginContext {
  const admitted = Object.assign(view, { [GRAPH]: context });
  (context as Viewed)[VIEW] = admitted;
  return admitted;
}

/** The context as other plugins see it; itself where there are none. */
export function viewOf(context: unknown): unknown {
  return (context as Viewed)[VIEW] ?? context;
}

/** Makes the contexts of a subscription's events, which plugins see as they have extended the operation's. */
export function eventContexts(context: OperationContext): () => ReadingContext {
  const create = context.eventContexts();
  const { [VIEW]: view } = context as Viewed;
  if (view === undefined) return create;
  // The request and its context must not live as long as the subscription.
  const given = { ...view, [GRAPH]: null, [REQUEST]: null };
  return () => {
    const ofEvent = create();
    (ofEvent as Viewed)[VIEW] = { ...given, [GRAPH]: ofEvent };
    return ofEvent;
  };
}
