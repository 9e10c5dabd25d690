import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../test/support/free-ports.ts';
import { accepts } from './accepting.ts';
import { CONTESTANT_CORE, onCore } from './cores.ts';

export interface Starter {
  readonly name: string;
  readonly script: string;
  readonly folder?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Null where it answers nothing of interest. */
  readonly endpoint: string | null;
}

const CLOCK_TICK_MS = 10;
const LOOK_MS = 5;

/** A contestant's process without anything preloaded, which would be a part of the figures. It needs Linux' /proc. */
export class BareProcess implements AsyncDisposable {
  readonly port: number;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.#ended = once(child, 'exit');
    this.port = port;
  }

  /** Resolves when it accepts connections. */
  static async start(
    { script, folder, environment }: Starter,
    gateway: { readonly url: string },
  ): Promise<BareProcess> {
    const port = await freePort();
    const [command = '', ...args] = onCore(CONTESTANT_CORE, process.execPath, [script]);
    const child = spawn(command, args, {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        NODE_ENV: 'production',
        PORT: String(port),
        GATEWAY_URL: gateway.url,
        ...environment,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const started = new BareProcess(child, port);
    while (!(await accepts(port))) {
      if (child.exitCode !== null) throw new Error(`${script} ended with ${child.exitCode}`);
      await delay(LOOK_MS);
    }
    return started;
  }

  /** Milliseconds of CPU, of all threads. */
  get cpuMs(): number {
    // The name of the program, in brackets, may hold spaces.
    const [, fields = ''] = /\) (.*)/.exec(this.#read('stat')) ?? [];
    const [user = '0', system = '0'] = fields.split(' ').slice(11);
    return (Number(user) + Number(system)) * CLOCK_TICK_MS;
  }

  get residentMb(): number {
    const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(this.#read('status')) ?? [];
    return Number(kilobytes) / 1_024;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A compile cache is written at a graceful end only.
    this.#child.kill('SIGTERM');
    await this.#ended;
  }

  #read(name: 'stat' | 'status'): string {
    return readFileSync(`/proc/${this.#child.pid}/${name}`, 'utf8');
  }
}
