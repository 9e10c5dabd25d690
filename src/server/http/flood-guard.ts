import type { IncomingMessage } from 'node:http';
import type { Caller } from '../../gateway/caller.ts';
import type { Eventually } from '../../lib/eventually.ts';
import { overLimit } from '../../plugins/limits/over-limit-error.ts';
import type { Standing } from '../receive/message-budget.ts';
import type { ServerSettings } from '../settings.ts';
import type { Reply } from './reply.ts';

export type FloodSettings = Pick<
  ServerSettings,
  'addresses' | 'countMessage' | 'maxBodyBytes' | 'received' | 'tokens'
>;

const RETRY_SECONDS = 10;

/** Counts each request against its client's budget of messages, whatever its answer, and refuses what is beyond it. */
export class FloodGuard {
  readonly #settings: FloodSettings;

  constructor(settings: FloodSettings) {
    this.#settings = settings;
  }

  /** Null where the connection is closed, because its client has long been told that it sends too much. */
  count(request: IncomingMessage): 'within' | 'over' | null {
    const { addresses, received, tokens } = this.#settings;
    const buffer = received.of(request.socket);
    if (buffer.isStopped) return null;
    buffer.requestBegan(request);
    const { method } = request;
    if (method === 'GET' || method === 'OPTIONS' || method === 'HEAD') buffer.requestTaken(request);
    const hashed = tokens.of(request);
    const client = { address: addresses.of(request), userAgent: null };
    const caller = { token: hashed?.token ?? null, hashed, client };
    const standing = this.#take(caller, announcedBytes(request));
    if (isChunked(request)) this.#countChunks(request, caller);
    if (standing !== 'far over') return standing;
    // A proxy's connection carries others' requests as well.
    if (addresses.isFromProxy(request)) return 'over';
    received.cut(buffer, 'rate');
    return null;
  }

  refuse(reply: Reply): Eventually<void> {
    const { errors, headers } = overLimit('messages', RETRY_SECONDS);
    reply.setAll(headers);
    return reply.sendJson(429, { errors });
  }

  /** A body that comes in chunks is not announced. */
  #countChunks(request: IncomingMessage, caller: Caller): void {
    const { socket } = request;
    const before = socket.bytesRead;
    request.once('close', () => this.#take(caller, socket.bytesRead - before));
  }

  /** A larger body is refused, and the rest of it discarded. */
  #take(caller: Caller, bytes: number): Standing {
    const { countMessage, maxBodyBytes } = this.#settings;
    return countMessage(caller, Math.min(bytes, maxBodyBytes));
  }
}

function isChunked({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined;
}

/** Zero where the body comes in chunks. */
function announcedBytes({ headers }: IncomingMessage): number {
  return Number(headers['content-length'] ?? 0);
}
