import type { Socket } from 'node:net';
import type { RequestCaller } from '../../lib/caller.ts';
import { type Clock, recurring } from '../../lib/clock.ts';
import type { ClientOf } from '../../lib/limits/client.ts';
import { type BufferSums, type ClientBytes, type Recipient, SendBuffer } from './send-buffer.ts';

/** The reason why a slow reader was cut: no progress, or too much unread for its client or for the process. */
type CutReason = 'idle' | 'client' | 'process';

interface SendBuffersOptions {
  /** The maximum of unread bytes of all connections. */
  readonly maxBytes: number;
  readonly clientOf: ClientOf;
  readonly clock: Clock;
  /** The time that a reader may make no progress. */
  readonly unreadMs?: number | undefined;
  /** The time that an answer waits for its client's other readers before the slowest is cut. */
  readonly patienceMs?: number | undefined;
  readonly onCut?: (reason: CutReason) => void;
}

interface Waiter {
  readonly buffer: SendBuffer;
  readonly client: ClientBytes;
  readonly sinceMs: number;
  readonly ready: () => void;
}

const UNREAD_MS = 30_000;
const PATIENCE_MS = 5_000;
const LOOK_MS = 1_000;
const CLIENT_SHARE = 16;
const CONNECTION_SHARE = 128;

/**
 * Back-pressure for slow readers: bounds the answers that wait in memory. Beyond a client's or a
 * connection's share its next answer is not begun. In-flight answers may bring a client to twice its
 * share and the process to its maximum, the one just written not counted: then the slowest reader is
 * cut. Bytes that the kernel accepts synchronously, which are nearly all, are never counted.
 */
export class SendBuffers implements BufferSums {
  readonly perConnection: number;
  readonly #options: SendBuffersOptions;
  readonly #perClient: number;
  readonly #unreadMs: number;
  readonly #patienceMs: number;
  readonly #unread = new Set<SendBuffer>();
  readonly #clients = new Map<string, ClientBytes>();
  readonly #waiting = new Set<Waiter>();
  readonly #lookFromNowOn: () => void;
  #bytes = 0;
  /** The number of clients beyond their share. */
  #crowded = 0;
  #isWaking = false;

  constructor(options: SendBuffersOptions) {
    this.#options = options;
    this.#perClient = options.maxBytes / CLIENT_SHARE;
    this.perConnection = options.maxBytes / CONNECTION_SHARE;
    this.#unreadMs = options.unreadMs ?? UNREAD_MS;
    this.#patienceMs = options.patienceMs ?? PATIENCE_MS;
    const everyMs = Math.min(LOOK_MS, this.#unreadMs / 10);
    this.#lookFromNowOn = recurring(options.clock, everyMs, () => this.#look());
  }

  /** The unread bytes of all connections. */
  get bytes(): number {
    return this.#bytes;
  }

  open(socket: Socket, recipient: Recipient): SendBuffer {
    return new SendBuffer(this, socket, recipient);
  }

  /** Whether an answer may begin for this client, on a connection with so many bytes unread. */
  hasRoom(caller: RequestCaller, connectionBytes = 0): boolean {
    if (connectionBytes > this.perConnection) return false;
    if (this.#crowded === 0 && !this.#isHalfFull()) return true;
    const client = this.#clients.get(this.#keyOf(caller));
    return client === undefined || this.#isWithinShare(client);
  }

  async room(buffer: SendBuffer): Promise<void> {
    const { signal } = buffer.recipient.caller;
    while (!signal?.aborted && !buffer.hasRoom()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const wake = () => resolve();
      const waiter = this.wait(buffer, wake);
      signal?.addEventListener('abort', wake);
      await promise;
      signal?.removeEventListener('abort', wake);
      this.#waiting.delete(waiter);
    }
  }

  /** Each token of an account has a share of its own: what one leaves unread holds up no other. */
  #keyOf(caller: RequestCaller): string {
    const { key, parts } = this.#options.clientOf(caller);
    return parts[0]?.key ?? key;
  }

  wait(buffer: SendBuffer, ready: () => void): Waiter {
    const client = this.#clientOf(buffer);
    const waiter = { buffer, client, ready, sinceMs: this.#options.clock.now() };
    this.#waiting.add(waiter);
    return waiter;
  }

  changed(buffer: SendBuffer, bytes: number): void {
    const added = bytes - buffer.bytes;
    const client = buffer.client ?? this.#enter(buffer);
    const wasCrowded = client.bytes > this.#perClient;
    buffer.bytes = bytes;
    client.bytes += added;
    this.#bytes += added;
    this.#crowded += Number(client.bytes > this.#perClient) - Number(wasCrowded);
    if (bytes === 0) this.#leave(buffer, client);
    if (added > 0) {
      this.#relieve(client, added);
      return;
    }
    buffer.progressAtMs = this.#options.clock.now();
    buffer.recipient.drained?.();
    this.#wakeSoon();
  }

  #clientOf({ recipient }: SendBuffer): ClientBytes {
    const key = this.#keyOf(recipient.caller);
    return this.#clients.get(key) ?? { key, bytes: 0 };
  }

  #enter(buffer: SendBuffer): ClientBytes {
    const client = this.#clientOf(buffer);
    this.#clients.set(client.key, client);
    this.#unread.add(buffer);
    buffer.client = client;
    buffer.begin(this.#options.clock.now());
    this.#lookFromNowOn();
    return client;
  }

  #leave(buffer: SendBuffer, client: ClientBytes): void {
    buffer.client = null;
    this.#unread.delete(buffer);
    if (client.bytes === 0) this.#clients.delete(client.key);
  }

  /** An answer that is written cannot wait any more, so the slowest reader makes room for it. */
  #relieve(client: ClientBytes, justWritten: number): void {
    while (client.bytes - justWritten > 2 * this.#perClient) this.#cutSlowest(client);
    while (this.#bytes - justWritten > this.#options.maxBytes) this.#cutSlowest(null);
  }

  #cutSlowest(client: ClientBytes | null): void {
    let slowest: SendBuffer | null = null;
    for (const buffer of this.#unread) {
      if (client !== null && buffer.client !== client) continue;
      if (slowest === null || buffer.progressAtMs < slowest.progressAtMs) slowest = buffer;
    }
    if (slowest !== null) this.#cut(slowest, client === null ? 'process' : 'client');
  }

  #cut(buffer: SendBuffer, reason: CutReason): void {
    // A reset, because after a normal close the kernel would keep its part of the answer for the reader.
    buffer.socket.resetAndDestroy();
    buffer.release();
    this.#options.onCut?.(reason);
  }

  #isHalfFull(): boolean {
    return this.#bytes > this.#options.maxBytes / 2;
  }

  /** Clients without unread bytes never wait for slow readers. */
  #isWithinShare(client: ClientBytes): boolean {
    return client.bytes <= (this.#isHalfFull() ? 0 : this.#perClient);
  }

  /** Deferred by setImmediate: the waiters write, which changes the sums that are being iterated. */
  #wakeSoon(): void {
    if (this.#isWaking || this.#waiting.size === 0) return;
    this.#isWaking = true;
    setImmediate(() => {
      this.#isWaking = false;
      for (const waiter of [...this.#waiting]) {
        if (!waiter.buffer.isWithinShare || !this.#isWithinShare(waiter.client)) continue;
        this.#waiting.delete(waiter);
        waiter.ready();
      }
    });
  }

  #look(): boolean {
    const nowMs = this.#options.clock.now();
    for (const buffer of this.#unread) {
      buffer.look(nowMs);
      if (buffer.bytes > 0 && nowMs - buffer.progressAtMs >= this.#unreadMs) {
        this.#cut(buffer, 'idle');
      }
    }
    for (const { client, sinceMs } of this.#waiting) {
      if (nowMs - sinceMs >= this.#patienceMs) this.#makeRoom(client);
    }
    this.#wakeSoon();
    return this.#unread.size > 0;
  }

  #makeRoom(client: ClientBytes): void {
    while (client.bytes > this.#perClient) this.#cutSlowest(client);
    if (!this.#isWithinShare(client)) this.#cutSlowest(null);
  }
}
