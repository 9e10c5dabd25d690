import type { IncomingMessage } from 'node:http';
import type { MaybePromise } from '../../../lib/maybe-promise.ts';
import type { HttpReply } from './reply.ts';

/** Pages and files that are served in addition to GraphQL. */
export interface Site {
  /** Returns the function that answers the request; null if it is not for this site. */
  route(request: IncomingMessage, path: string): ((reply: HttpReply) => MaybePromise<void>) | null;
}

export function wantsPage({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && (headers.accept ?? '').includes('text/html');
}

export function sendNotFound(reply: HttpReply): MaybePromise<void> {
  return reply.sendJson(404, { error: 'not found' });
}
