import type { IncomingMessage } from 'node:http';
import type { Eventually } from '../../lib/eventually.ts';
import { overLimit } from '../../plugins/limits/over-limit-error.ts';
import type { Standing } from '../receive/message-budget.ts';
import type { ServerSettings } from '../settings.ts';
import type { Reply } from './reply.ts';

const RETRY_SECONDS = 10;

/**
 * Counts a request against its client's budget of messages, whatever its answer. Null where the connection is closed,
 * because its client has long been told that it sends too much. What pages of other sites make a browser send counts
 * apart from what its user does.
 */
export function countRequest(
  request: IncomingMessage,
  { addresses, countMessage, maxBodyBytes, received, tokens }: ServerSettings,
  isCrossSite: boolean,
): 'within' | 'over' | null {
  const { method, socket, headers } = request;
  const buffer = received.of(socket);
  if (buffer.isStopped) return null;
  buffer.requestBegan(request);
  if (method === 'GET' || method === 'OPTIONS' || method === 'HEAD') buffer.requestTaken(request);
  const caller = { ...addresses.caller(request), token: tokens.of(request) };
  // A larger body is refused, and the rest of it discarded.
  const count = (bytes: number): Standing =>
    countMessage(caller, Math.min(bytes, maxBodyBytes), isCrossSite ? 'cross-site' : null);
  const standing = count(Number(headers['content-length'] ?? 0));
  if (headers['transfer-encoding'] !== undefined) {
    // A body that comes in chunks is not announced.
    const before = socket.bytesRead;
    request.once('close', () => count(socket.bytesRead - before));
  }
  if (standing !== 'far over') return standing;
  // A proxy's connection carries others' requests as well.
  if (addresses.isFromProxy(request)) return 'over';
  received.cut(buffer, 'rate');
  return null;
}

/** Counts what a packed body has unpacked to: a few bytes on the wire may hold the largest one. */
export function countUnpacked(
  { request, caller }: Reply,
  { countMessage }: ServerSettings,
  body: Buffer | null,
): Standing {
  if (body === null || request.headers['content-encoding'] === undefined) return 'within';
  return countMessage(caller, body.length);
}

export function refuseFlood(reply: Reply): Eventually<void> {
  const { errors, headers } = overLimit('messages', RETRY_SECONDS);
  reply.setAll(headers);
  return reply.sendJson(429, { errors });
}
