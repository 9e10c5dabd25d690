import type { Socket } from 'node:net';
import { clientOf, type RequestCaller } from '../../../lib/caller.ts';
import { type Clock, recurring } from '../../../lib/clock.ts';
import { type ClientBytes, type Recipient, SendBuffer } from './send-buffer.ts';

/** The reason why a slow reader was cut: no progress, or too much unread for its client or for the process. */
type CutReason = 'idle' | 'client' | 'process';

interface SendBuffersOptions {
  /** The maximum of unread bytes of all connections. */
  readonly maxBytes: number;
  readonly clock: Clock;
  /** The time that a reader may make no progress. */
  readonly unreadMs: number;
  /** The time that an answer waits for its client's other readers before the slowest is cut. */
  readonly patienceMs: number;
  readonly onCut?: (reason: CutReason) => void;
}

interface Waiter {
  readonly buffer: SendBuffer;
  readonly client: ClientBytes;
  readonly sinceMs: number;
  readonly ready: () => void;
}

const LOOK_MS = 1_000;
const CLIENT_SHARE = 16;
const CONNECTION_SHARE = 128;

export type SendBuffers = ReturnType<typeof createSendBuffers>;

/**
 * Back-pressure for slow readers: bounds the answers that wait in memory. Beyond a client's or a
 * connection's share its next answer is not begun. In-flight answers may bring a client to twice its
 * share and the process to its maximum, the one just written not counted: then the slowest reader is
 * cut. Bytes that the kernel accepts synchronously, which are nearly all, are never counted.
 */
export function createSendBuffers(options: SendBuffersOptions) {
  const { maxBytes, clock, unreadMs, patienceMs, onCut } = options;
  const unread = new Set<SendBuffer>();
  const clients = new Map<string, ClientBytes>();
  const waiting = new Set<Waiter>();
  let total = 0;
  /** The number of clients beyond their share. */
  let crowded = 0;
  let isWaking = false;
  const perClient = maxBytes / CLIENT_SHARE;
  const perConnection = maxBytes / CONNECTION_SHARE;
  const everyMs = Math.min(LOOK_MS, unreadMs / 10);
  const lookFromNowOn = recurring(clock, everyMs, look);

  /** Each token of an account has a share of its own: what one leaves unread holds up no other. */
  function keyOf(caller: RequestCaller): string {
    const { key, parts } = clientOf(caller);
    return parts[0]?.key ?? key;
  }

  function bytesOf({ recipient }: SendBuffer): ClientBytes {
    const key = keyOf(recipient.caller);
    return clients.get(key) ?? { key, bytes: 0 };
  }

  function enter(buffer: SendBuffer): ClientBytes {
    const client = bytesOf(buffer);
    clients.set(client.key, client);
    unread.add(buffer);
    buffer.client = client;
    buffer.begin(clock.now());
    lookFromNowOn();
    return client;
  }

  function leave(buffer: SendBuffer, client: ClientBytes): void {
    buffer.client = null;
    unread.delete(buffer);
    if (client.bytes === 0) clients.delete(client.key);
  }

  /** An answer that is written cannot wait any more, so the slowest reader makes room for it. */
  function relieve(client: ClientBytes, justWritten: number): void {
    while (client.bytes - justWritten > 2 * perClient) cutSlowest(client);
    while (total - justWritten > maxBytes) cutSlowest(null);
  }

  function cutSlowest(client: ClientBytes | null): void {
    let slowest: SendBuffer | null = null;
    for (const buffer of unread) {
      if (client !== null && buffer.client !== client) continue;
      if (slowest === null || buffer.progressAtMs < slowest.progressAtMs) slowest = buffer;
    }
    if (slowest !== null) cut(slowest, client === null ? 'process' : 'client');
  }

  function cut(buffer: SendBuffer, reason: CutReason): void {
    // A reset, because after a normal close the kernel would keep its part of the answer for the reader.
    buffer.socket.resetAndDestroy();
    buffer.release();
    onCut?.(reason);
  }

  function isHalfFull(): boolean {
    return total > maxBytes / 2;
  }

  /** Clients without unread bytes never wait for slow readers. */
  function isWithinShare(client: ClientBytes): boolean {
    return client.bytes <= (isHalfFull() ? 0 : perClient);
  }

  /** Deferred by setImmediate: the waiters write, which changes the sums that are being iterated. */
  function wakeSoon(): void {
    if (isWaking || waiting.size === 0) return;
    isWaking = true;
    setImmediate(() => {
      isWaking = false;
      for (const waiter of [...waiting]) {
        const { buffer, client } = waiter;
        const hasRoom = buffer.isWithinShare && isWithinShare(client);
        if (!hasRoom && !buffer.isReleased) continue;
        waiting.delete(waiter);
        waiter.ready();
      }
    });
  }

  function look(): boolean {
    const nowMs = clock.now();
    for (const buffer of unread) {
      buffer.look(nowMs);
      if (buffer.bytes > 0 && nowMs - buffer.progressAtMs >= unreadMs) {
        cut(buffer, 'idle');
      }
    }
    for (const { client, sinceMs } of waiting) {
      if (nowMs - sinceMs >= patienceMs) makeRoom(client);
    }
    wakeSoon();
    return unread.size > 0;
  }

  function makeRoom(client: ClientBytes): void {
    while (client.bytes > perClient) cutSlowest(client);
    if (!isWithinShare(client)) cutSlowest(null);
  }

  const sums = {
    perConnection,
    wait(buffer: SendBuffer, ready: () => void): void {
      waiting.add({ buffer, client: bytesOf(buffer), ready, sinceMs: clock.now() });
    },
    /** The unread bytes of all connections. */
    get bytes(): number {
      return total;
    },
    open(socket: Socket, recipient: Recipient): SendBuffer {
      return new SendBuffer(sums, socket, recipient);
    },
    /** Whether an answer may begin for this client, on a connection with so many bytes unread. */
    hasRoom(caller: RequestCaller, connectionBytes = 0): boolean {
      if (connectionBytes > perConnection) return false;
      if (crowded === 0 && !isHalfFull()) return true;
      const client = clients.get(keyOf(caller));
      return client === undefined || isWithinShare(client);
    },
    wakeSoon,
    changed(buffer: SendBuffer, bytes: number): void {
      const added = bytes - buffer.bytes;
      const client = buffer.client ?? enter(buffer);
      const wasCrowded = client.bytes > perClient;
      buffer.bytes = bytes;
      client.bytes += added;
      total += added;
      crowded += Number(client.bytes > perClient) - Number(wasCrowded);
      if (bytes === 0) leave(buffer, client);
      if (added > 0) {
        relieve(client, added);
        return;
      }
      buffer.progressAtMs = clock.now();
      buffer.recipient.drained?.();
      wakeSoon();
    },
  };
  return sums;
}
