import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ImageConfig } from './buildah.ts';

/** What `docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges` does, in namespaces of its own. */
const ENTER = `set -e
root=$1 data=$2 user=$3 group=$4; shift 4
mount --make-rprivate /
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t tmpfs tmpfs "$root/tmp"
mount --bind "$data" "$root/app/data"
mount -t proc proc "$root/proc"
exec chroot "$root" setpriv --reuid "$user" --regid "$group" --clear-groups --no-new-privs \\
  --bounding-set=-all --inh-caps=-all env -i -C /app "$@"
`;

export interface ContainerOptions {
  readonly rootFolder: string;
  /** Mounted on the image's volume. */
  readonly dataFolder: string;
  readonly config: ImageConfig;
  readonly environment: Readonly<Record<string, string>>;
}

/** The image's command as a container would have it: its user, its environment, a read-only root. */
export class Container {
  readonly output: string[] = [];
  readonly #options: ContainerOptions;
  readonly #child: ChildProcess;
  readonly #startedAtMs = performance.now();
  readonly #serving: Promise<number>;

  constructor(options: ContainerOptions) {
    this.#options = options;
    const { dataFolder, config } = options;
    const [user = '', group = ''] = config.User.split(':');
    mkdirSync(dataFolder, { recursive: true });
    chownSync(dataFolder, Number(user), Number(group));
    this.#child = this.#enter(config.Cmd);
    this.#serving = this.#whenServing();
    // Whoever waits for it learns of it.
    this.#serving.catch(() => {});
  }

  /** The seconds from the command to the line that says so. */
  serving(): Promise<number> {
    return this.#serving;
  }

  /** Runs the image's own health check beside it. */
  async isHealthy(): Promise<boolean> {
    const [kind, ...command] = this.#options.config.Healthcheck.Test;
    if (kind !== 'CMD') throw new Error(`a health check that is not run here: ${kind}`);
    const [code] = await once(this.#enter(command), 'exit');
    return code === 0;
  }

  /** The file of /proc of the service itself, which is process 1 of its namespace. */
  status(): Readonly<Record<string, string>> {
    const lines = readFileSync(`/proc/${this.#pid()}/status`, 'utf8').trim().split('\n');
    return Object.fromEntries(lines.map((line) => line.split(/:\s+/, 2)));
  }

  /** Resolves with the exit code. */
  async stop(): Promise<number | null> {
    if (this.#child.exitCode !== null) return this.#child.exitCode;
    const exited = once(this.#child, 'exit');
    process.kill(this.#pid(), 'SIGTERM');
    const [code] = await exited;
    return code;
  }

  /** `unshare` waits for it, so that it is the only child. */
  #pid(): number {
    const { pid } = this.#child;
    const [own] = readdirSync(`/proc/${pid}/task`);
    const [child = ''] = readFileSync(
      join(`/proc/${pid}/task`, own ?? '', 'children'),
      'utf8',
    ).split(' ');
    if (child === '') throw new Error(`the container runs no longer:\n${this.output.join('\n')}`);
    return Number(child);
  }

  #enter(command: readonly string[]): ChildProcess {
    const { rootFolder, dataFolder, config, environment } = this.#options;
    const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
    const namespaces = ['--mount', '--pid', '--fork', '--kill-child'];
    return spawn('unshare', [
      ...[...namespaces, 'sh', '-c', ENTER, 'sh', rootFolder, dataFolder],
      ...[...config.User.split(':'), ...config.Env, ...variables, ...command],
    ]);
  }

  async #whenServing(): Promise<number> {
    const { stdout, stderr } = this.#child;
    if (stdout === null || stderr === null) throw new Error('the container has no output');
    createInterface({ input: stderr }).on('line', (line) => this.output.push(line));
    return new Promise((resolve, reject) => {
      this.#child.once('exit', (code) => {
        reject(new Error(`the container ended with ${code}:\n${this.output.join('\n')}`));
      });
      createInterface({ input: stdout }).on('line', (line) => {
        this.output.push(line);
        if (/\bserving\b/.test(line)) resolve((performance.now() - this.#startedAtMs) / 1_000);
      });
    });
  }
}
