import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const HEAD_END = '\r\n\r\n';

/**
 * Sends one request after the other and reads no more of a response than its length: an HTTP client would take as
 * much of the warm-up's time as what is warmed.
 */
export class Connection implements Disposable {
  readonly #socket: Socket;
  #response: Buffer[] = [];
  /** The bytes that are missing of the response; null until its head is complete. */
  #missingBytes: number | null = null;
  #answered: (response: Buffer) => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', () => {});
    socket.on('close', () => this.#answered(Buffer.alloc(0)));
  }

  static async open(url: string): Promise<Connection> {
    const { hostname, port } = new URL(url);
    const socket = connect({ port: Number(port), host: hostname, noDelay: true });
    await once(socket, 'connect');
    return new Connection(socket);
  }

  /** Resolves to the whole response; empty where the connection was closed. */
  ask(request: Buffer): Promise<Buffer> {
    const { promise, resolve } = Promise.withResolvers<Buffer>();
    this.#answered = resolve;
    if (this.#socket.destroyed) resolve(Buffer.alloc(0));
    else this.#socket.write(request);
    return promise;
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#response.push(chunk);
    if (this.#missingBytes !== null) this.#missingBytes -= chunk.length;
    else {
      const received = Buffer.concat(this.#response);
      const headEnd = received.indexOf(HEAD_END);
      if (headEnd < 0) return;
      const head = received.toString('latin1', 0, headEnd);
      const [, length = '0'] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
      this.#missingBytes = headEnd + HEAD_END.length + Number(length) - received.length;
    }
    if (this.#missingBytes > 0) return;
    const response = Buffer.concat(this.#response);
    this.#response = [];
    this.#missingBytes = null;
    this.#answered(response);
  }
}
