import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../test/support/eventually.ts';
import { freePort } from '../../test/support/free-ports.ts';
import { onCore, SUBJECT_CORE } from './cores.ts';
import type { ProbeAnswers, ProbeQuestion } from './probe.ts';

export interface ProcessOptions {
  readonly script: string;
  /** By default the subject's own core. */
  readonly core?: number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly nodeFlags?: readonly string[];
}

const PROBE = fileURLToPath(new URL('probe.ts', import.meta.url));
const STARTS_WITHIN_MS = 120_000;
const ENDS_WITHIN_MS = 30_000;
// The last output is enough: a service that logs each request writes hundreds of megabytes.
const KEPT_CHARACTERS = 20_000;
const SHOWN_CHARACTERS = 2_000;

/** A Node process on a core of its own that reports its resource usage. */
export class ProbedProcess implements AsyncDisposable {
  readonly port: number;
  readonly #child: ChildProcess;
  #output = '';
  readonly #ended: Promise<void>;
  #lastExchange: Promise<unknown> = Promise.resolve();

  constructor(
    { script, core = SUBJECT_CORE, environment = {}, nodeFlags = [] }: ProcessOptions,
    port = 0,
  ) {
    const flags = [...nodeFlags, '--import', PROBE];
    const [command = '', ...args] = onCore(core, process.execPath, [...flags, script]);
    this.port = port;
    this.#child = spawn(command, args, {
      // The caller's other variables are left out, so that each run has the same settings.
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#ended = new Promise((resolve) => this.#child.once('exit', () => resolve()));
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk) => {
        this.#output = (this.#output + String(chunk)).slice(-KEPT_CHARACTERS);
      });
    }
  }

  /** Starts a server with a free port as its setting `PORT`, and waits until the server accepts connections. */
  static async listening(options: ProcessOptions): Promise<ProbedProcess> {
    const port = await freePort();
    const environment = { NODE_ENV: 'production', PORT: String(port), ...options.environment };
    const child = new ProbedProcess({ ...options, environment }, port);
    const waiting = { withinMs: STARTS_WITHIN_MS, ended: () => child.hasEnded };
    await eventually(() => accepts(port), waiting).catch(async () => {
      await child[Symbol.asyncDispose]();
      throw new Error(`the server did not start: ${child.#output}`);
    });
    return child;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  ask<A extends keyof ProbeAnswers>(question: ProbeQuestion<A>): Promise<ProbeAnswers[A]> {
    return this.exchange(question) as Promise<ProbeAnswers[A]>;
  }

  /** Sends a message and returns its answer. Messages wait for the answers before them, because answers have no ids. */
  exchange(message: object): Promise<unknown> {
    const exchanged = this.#lastExchange.then(async () => {
      const endError = () =>
        new Error(`the process has ended: ${this.#output.slice(-SHOWN_CHARACTERS)}`);
      if (this.hasEnded) throw endError();
      const answered = once(this.#child, 'message');
      const ended = this.#ended.then(() => {
        throw endError();
      });
      // Ignores errors of sending: `ended` reports the end of the process.
      this.#child.send(message, () => {});
      const [{ answer }] = (await Promise.race([answered, ended])) as [{ answer: unknown }];
      return answer;
    });
    this.#lastExchange = exchanged.catch(() => {});
    return exchanged;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.hasEnded) return;
    // SIGTERM lets the process write its profile.
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), ENDS_WITHIN_MS);
    await this.#ended;
    clearTimeout(timer);
  }
}

/** True if a server listens on the port. */
async function accepts(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' });
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}
