import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onCore } from './cores.ts';
import type { ProbeAnswers, ProbeQuestion } from './probe.ts';

export interface ProcessOptions {
  readonly script: string;
  readonly core: number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly nodeFlags?: readonly string[];
  readonly folder?: string;
}

const PROBE = fileURLToPath(new URL('probe.ts', import.meta.url));

// A service that logs each request writes hundreds of megabytes.
const KEPT_CHARACTERS = 20_000;

/** The process has ended; the message is its last output. */
export class ProcessEndedError extends Error {
  constructor(output: string) {
    super(`the process has ended: ${output.slice(-2_000)}`);
  }
}

/** A Node process on a core of its own that reports its resource usage. */
export class ProbedProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  #output = '';
  readonly #ended: Promise<void>;
  #asking: Promise<unknown> = Promise.resolve();

  constructor({ script, core, environment = {}, nodeFlags = [], folder }: ProcessOptions) {
    const [command = '', ...args] = onCore(core, process.execPath, [
      ...nodeFlags,
      '--import',
      PROBE,
      script,
    ]);
    this.#child = spawn(command, args, {
      // None of the caller's own settings: the same run everywhere.
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#ended = new Promise((resolve) => this.#child.once('exit', () => resolve()));
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk) => {
        this.#output = (this.#output + String(chunk)).slice(-KEPT_CHARACTERS);
      });
    }
  }

  /** Undefined where it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** The end of its output, which has the reason where it did not start. */
  get output(): string {
    return this.#output;
  }

  ask<A extends ProbeQuestion['ask']>(
    question: Extract<ProbeQuestion, { ask: A }>,
  ): Promise<ProbeAnswers[A]> {
    return this.exchange(question) as Promise<ProbeAnswers[A]>;
  }

  /** One at a time: answers carry no names. Rejects where the process ends before it answers. */
  exchange(message: object): Promise<unknown> {
    const asked = this.#asking.then(async () => {
      if (this.hasEnded) throw new ProcessEndedError(this.output);
      const answered = once(this.#child, 'message');
      const ended = this.#ended.then(() => {
        throw new ProcessEndedError(this.output);
      });
      // A failure to send to a process at its end is reported by the end itself.
      this.#child.send(message, () => {});
      const [{ answer }] = (await Promise.race([answered, ended])) as [{ answer: unknown }];
      return answer;
    });
    this.#asking = asked.catch(() => {});
    return asked;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.hasEnded) return;
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}
