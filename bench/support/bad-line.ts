import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface LineTerms {
  /** Of each direction, for all connections of the phone together. */
  readonly bytesPerSecond: number;
  readonly roundTripMs: number;
  /** The share of pieces of 16 kB in which the connection is reset. */
  readonly cuts: number;
}

export interface BadLine extends AsyncDisposable {
  readonly url: string;
  /** Bytes that came to the phone. */
  readonly received: number;
  readonly resets: number;
  /** Closes the connections, as those of an app that ends. */
  drop(): void;
}

interface Packet {
  readonly to: Socket;
  readonly bytes: Buffer;
}

const PACKET_BYTES = 1_460;
const PIECE_BYTES = 16_384;
/** A new connection costs these before its first byte: TCP's, and TLS 1.3's. */
const HANDSHAKE_ROUND_TRIPS = 2;

/** A mobile line between one phone and the service: packets wait their turn, arrive late, and some tear the connection down. */
export async function startBadLine(
  target: string,
  { bytesPerSecond, roundTripMs, cuts }: LineTerms,
  random: () => number,
): Promise<BadLine> {
  const { hostname, port } = new URL(target);
  const down = new Direction(bytesPerSecond, roundTripMs / 2);
  const up = new Direction(bytesPerSecond, roundTripMs / 2);
  let received = 0;
  let resets = 0;
  const phones = new Set<Socket>();
  const server = createServer((phone) => {
    const service = connect(Number(port), hostname);
    phones.add(phone);
    const end = () => {
      phone.destroy();
      phones.delete(phone);
      service.destroy();
    };
    for (const socket of [phone, service]) socket.on('error', end).on('close', end);
    const opened = delay(HANDSHAKE_ROUND_TRIPS * roundTripMs);
    phone.on('data', (bytes: Buffer) => void opened.then(() => up.send(service, bytes)));
    service.on('data', (bytes: Buffer) =>
      down.send(phone, bytes, (packet) => {
        received += packet.length;
        if (random() >= (cuts * packet.length) / PIECE_BYTES) return true;
        resets += 1;
        phone.resetAndDestroy();
        return false;
      }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get received() {
      return received;
    },
    get resets() {
      return resets;
    },
    drop() {
      for (const phone of phones) phone.destroy();
    },
    async [Symbol.asyncDispose]() {
      server.close();
      for (const direction of [down, up]) direction.end();
    },
  };
}

class Direction {
  readonly #bytesPerSecond: number;
  readonly #lateMs: number;
  readonly #waiting: (Packet & { readonly arrives: (bytes: Buffer) => boolean })[] = [];
  #isSending = false;
  #isOver = false;

  constructor(bytesPerSecond: number, lateMs: number) {
    this.#bytesPerSecond = bytesPerSecond;
    this.#lateMs = lateMs;
  }

  send(to: Socket, bytes: Buffer, arrives: (bytes: Buffer) => boolean = () => true): void {
    for (let from = 0; from < bytes.length; from += PACKET_BYTES) {
      this.#waiting.push({ to, bytes: bytes.subarray(from, from + PACKET_BYTES), arrives });
    }
    if (!this.#isSending) void this.#sendAll();
  }

  end(): void {
    this.#isOver = true;
    this.#waiting.length = 0;
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    // Timers are late by a millisecond or two, which must not add up.
    let due = performance.now();
    for (;;) {
      const packet = this.#waiting.shift();
      if (packet === undefined || this.#isOver) break;
      const { to, bytes, arrives } = packet;
      // What is left of a connection that is gone takes no time.
      if (to.destroyed) continue;
      due += (bytes.length / this.#bytesPerSecond) * 1_000;
      await delay(Math.max(0, due - performance.now()));
      setTimeout(() => {
        if (!to.destroyed && arrives(bytes)) to.write(bytes);
      }, this.#lateMs);
    }
    this.#isSending = false;
  }
}
