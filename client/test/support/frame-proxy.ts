import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Stands between a client and the facade as a network does. */
export interface FrameProxy extends AsyncDisposable {
  /** The facade's endpoint, by way of the proxy. */
  readonly url: string;
  /** WebSockets that were opened so far. */
  readonly accepted: number;
  /** WebSockets that are open. */
  readonly openLines: number;
  /** Resets all open connections. */
  kill(): void;
  /** Until it is healed, nothing passes over any connection, present or new, and none of them is closed. */
  stall(): void;
  heal(): void;
  /** The next two frames of the server's that come together arrive in the opposite order. */
  swapNextFrames(): void;
  /** Lets a frame pass that waits for one to be swapped with. */
  passHeldFrames(): void;
  /** The next frame of the server's arrives twice. */
  repeatNextFrame(): void;
  /** Leads new connections to another server. */
  lead(port: number): void;
}

type FrameFault = 'swap' | 'repeat';

export async function startFrameProxy(firstPort: number): Promise<FrameProxy> {
  let port = firstPort;
  let accepted = 0;
  let isStalled = false;
  let fault: FrameFault | null = null;
  const sockets = new Set<Socket>();
  const lines = new Set<Socket>();
  const release = new Set<() => void>();
  const passHeld = new Set<() => void>();

  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    const frames = new FrameReader();
    let held: Buffer | null = null;
    let waiting: (() => void)[] = [];
    const pass = (task: () => void) => {
      if (isStalled) waiting.push(task);
      else task();
    };
    const flush = () => {
      const tasks = waiting;
      waiting = [];
      for (const task of tasks) task();
    };
    const send = (frame: Buffer) => {
      if (held !== null) {
        client.write(frame);
        client.write(held);
        held = null;
      } else if (fault === 'swap' && isText(frame)) {
        held = frame;
        fault = null;
      } else {
        client.write(frame);
        if (fault === 'repeat' && isText(frame)) {
          client.write(frame);
          fault = null;
        }
      }
    };
    const sendHeld = () => {
      if (held !== null) client.write(held);
      held = null;
    };
    release.add(flush);
    passHeld.add(sendHeld);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.once('close', () => {
        sockets.delete(socket);
        if (socket === client) {
          release.delete(flush);
          passHeld.delete(sendHeld);
        }
        if (isStalled && socket === upstream) waiting.push(() => other.destroy());
        else other.destroy();
      });
    }
    client.once('data', (head: Buffer) => {
      if (!/^upgrade: websocket/im.test(head.toString('latin1'))) return;
      accepted += 1;
      lines.add(client);
      client.once('close', () => lines.delete(client));
    });
    client.on('data', (chunk) => pass(() => upstream.write(chunk)));
    upstream.on('data', (chunk: Buffer) =>
      pass(() => {
        if (!lines.has(client)) client.write(chunk);
        else for (const frame of frames.read(chunk)) send(frame);
      }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const kill = () => {
    for (const socket of [...sockets]) socket.resetAndDestroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    get accepted() {
      return accepted;
    },
    get openLines() {
      return lines.size;
    },
    kill,
    stall() {
      isStalled = true;
    },
    heal() {
      isStalled = false;
      fault = null;
      for (const flush of [...release]) flush();
    },
    swapNextFrames() {
      fault = 'swap';
    },
    passHeldFrames() {
      for (const send of [...passHeld]) send();
    },
    repeatNextFrame() {
      fault = 'repeat';
    },
    lead(other) {
      port = other;
    },
    async [Symbol.asyncDispose]() {
      kill();
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}

/** Cuts what a server sends into its upgrade and its frames, which are not masked. */
class FrameReader {
  #rest: Buffer = Buffer.alloc(0);
  #isUpgraded = false;

  read(chunk: Buffer): Buffer[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const parts: Buffer[] = [];
    for (let length = this.#next(); length !== null; length = this.#next()) {
      parts.push(this.#rest.subarray(0, length));
      this.#rest = this.#rest.subarray(length);
      this.#isUpgraded = true;
    }
    return parts;
  }

  #next(): number | null {
    const rest = this.#rest;
    if (!this.#isUpgraded) {
      const end = rest.indexOf('\r\n\r\n');
      return end < 0 ? null : end + 4;
    }
    if (rest.length < 2) return null;
    const short = rest.readUInt8(1) & 127;
    const header = short === 127 ? 10 : short === 126 ? 4 : 2;
    if (rest.length < header) return null;
    const size =
      short === 127
        ? Number(rest.readBigUInt64BE(2))
        : short === 126
          ? rest.readUInt16BE(2)
          : short;
    return rest.length < header + size ? null : header + size;
  }
}

function isText(frame: Buffer): boolean {
  // Packed or not: the head of a message is never packed.
  return [0x81, 0xc1].includes(frame.readUInt8(0)) && frame.includes('"next"');
}
