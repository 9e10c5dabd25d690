import type { RequestCaller } from '../../lib/caller.ts';
import { GRAPH, type OperationContext } from '../admission/plugin.ts';

/** The context of an operation as other plugins see and extend it. */
export class PluginView {
  readonly [GRAPH]: OperationContext;
  /** The sender of the operation, with the text of the token. */
  readonly caller: Omit<RequestCaller, 'token'> & { readonly token: string | null };
  [name: string]: unknown;

  constructor(context: OperationContext) {
    this[GRAPH] = context;
    const { caller } = context;
    this.caller = { ...caller, token: caller.token?.text ?? null };
  }

  /** The request over HTTP; undefined for an operation of a socket. */
  get request(): Request | undefined {
    const request = this[GRAPH].operation.transport.toRequest?.();
    this.request = request;
    return request;
  }

  set request(value: Request | undefined) {
    Object.defineProperty(this, 'request', { value, writable: true, enumerable: true });
  }
}
