import type { IncomingMessage } from 'node:http';
import type { RequestCaller } from '../../../lib/limits/caller.ts';
import type { MaybePromise } from '../../../lib/maybe-promise.ts';
import { tooManyMessages } from '../../operation/over-limit-error.ts';
import { markNotSent } from '../../operation/refusal.ts';
import type { ServerSettings } from '../requests/server-settings.ts';
import type { HttpReply } from './reply.ts';

type FloodSettings = Pick<ServerSettings, 'addresses' | 'countMessage' | 'metrics' | 'refused'>;

/**
 * Counts a request against its client's budget of messages, whatever its answer. Null where the connection is closed,
 * because its client has long been told that it sends too much. What pages of other sites make a browser send counts
 * apart from what its user does.
 */
export function countRequest(
  request: IncomingMessage,
  caller: RequestCaller,
  { addresses, countMessage, metrics, refused }: FloodSettings,
  isCrossSite: boolean,
): 'within' | 'over' | null {
  const standing = countMessage(caller, 0, isCrossSite ? 'cross-site' : null);
  if (standing !== 'far over') return standing;
  // A proxy's connection carries others' requests as well.
  if (addresses.isFromProxy(request)) return 'over';
  refused('messages');
  metrics.connectionsCut.inc({ reason: 'rate' });
  request.socket.resetAndDestroy();
  return null;
}

export function refuseFlood(reply: HttpReply, { refused }: FloodSettings): MaybePromise<void> {
  refused('messages');
  const { errors, headers } = tooManyMessages();
  if (reply.request.method === 'POST') markNotSent(errors);
  reply.setAll(headers);
  return reply.sendJson(429, { errors });
}
