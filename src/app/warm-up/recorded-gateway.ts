import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Sandbox } from '../../sandbox/start.ts';
import { Connection } from './connection.ts';

// A list of positions that never changed would not even be parsed.
const ANSWERS_EACH = 3;

/**
 * A gateway that answers each path with what the sandbox gateway answered to it first, one answer after the other
 * as the market moves. The sandbox itself would take more of the warm-up's time than what is warmed.
 */
export class RecordedGateway implements AsyncDisposable {
  readonly #sandbox: Sandbox;
  readonly #recorded = new Map<string, Buffer[]>();
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer({ noDelay: true }, (socket) => this.#serve(socket));
  #answered = 0;

  private constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  static async start(sandbox: Sandbox): Promise<RecordedGateway> {
    const gateway = new RecordedGateway(sandbox);
    gateway.#server.listen(0, '127.0.0.1');
    await once(gateway.#server, 'listening');
    return gateway;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
    // The service's client sends a read at once, and the next one when it is answered.
    socket.on('data', (request: Buffer) => {
      const path = request.toString('latin1', 0, request.indexOf('\r\n'));
      const answers = this.#recorded.get(path) ?? [];
      this.#recorded.set(path, answers);
      this.#answered += 1;
      const answer = answers[this.#answered % ANSWERS_EACH];
      if (answer !== undefined) socket.write(answer);
      else void this.#record(request, answers).then((recorded) => socket.write(recorded));
    });
  }

  async #record(request: Buffer, answers: Buffer[]): Promise<Buffer> {
    this.#sandbox.tick();
    using connection = await Connection.open(this.#sandbox.url);
    const answer = await connection.ask(request);
    if (answers.length < ANSWERS_EACH) answers.push(answer);
    return answer;
  }
}
