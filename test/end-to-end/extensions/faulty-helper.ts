import { subscribe, unsubscribe } from 'node:diagnostics_channel';

const REQUESTS = 'http.server.request.start';

/** Throws at the next request, in its context: nothing but the stack says whose code it is. */
export function throwAtNextRequest(): void {
  subscribe(REQUESTS, function once() {
    unsubscribe(REQUESTS, once);
    throw new Error('in a helper');
  });
}
