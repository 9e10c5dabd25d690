import { type ChildProcess, spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { CONTESTANT_CORE, onCore } from './cores.ts';
import type { PipelineSample } from './pipeline-cases.ts';

const SCRIPT = join(import.meta.dirname, '..', 'contestants', 'pipeline.ts');

/** A process in which a checkout's operations run without HTTP. */
export class PipelineContestant implements Disposable {
  readonly #process: ChildProcess;
  #awaited = Promise.withResolvers<unknown>();

  private constructor(process: ChildProcess) {
    this.#process = process;
    process.on('message', (message) => this.#awaited.resolve(message));
    process.on('exit', (code) =>
      this.#awaited.reject(new Error(`the contestant ended with ${code}`)),
    );
  }

  static async start(checkout: string): Promise<PipelineContestant> {
    const [command = '', ...args] = onCore(CONTESTANT_CORE, process.execPath, [
      // What recurs ends in V8's last compiler; code of the one in the middle would only vary the first rounds.
      '--no-maglev',
      SCRIPT,
      resolve(checkout),
    ]);
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const contestant = new PipelineContestant(child);
    await contestant.#awaited.promise;
    return contestant;
  }

  /** The microseconds of CPU for one operation. */
  async measure(sample: PipelineSample): Promise<number> {
    this.#awaited = Promise.withResolvers();
    this.#process.send(sample);
    return Number(await this.#awaited.promise);
  }

  [Symbol.dispose](): void {
    this.#process.removeAllListeners('exit').kill();
  }
}
