import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePorts } from '../../test/support/free-ports.ts';
import type { BuiltImage } from './build.ts';

/**
 * What `docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges` does, in namespaces of its own.
 * With another user a process forgets that it ends with its parent, unless it is told to keep that.
 */
const ENTER = `set -e
root=$1 data=$2 user=$3 group=$4; shift 4
mount --make-rprivate /
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t tmpfs tmpfs "$root/tmp"
mount --bind "$data" "$root/app/data"
mount -t proc proc "$root/proc"
exec chroot "$root" setpriv --reuid "$user" --regid "$group" --clear-groups --no-new-privs \\
  --bounding-set=-all --inh-caps=-all --pdeathsig keep env -i -C /app "$@"
`;

// A start takes three seconds.
const LONGEST_MS = 120_000;

/** The image's command as a container would have it: its user, its environment, a read-only root. */
export class Container implements AsyncDisposable {
  readonly url: string;
  readonly adminUrl: string;
  /** Mounted on the image's volume. */
  readonly volume: string;
  /** Lines of its standard output and of its errors. */
  readonly output: string[] = [];
  readonly errors: string[] = [];
  readonly #image: BuiltImage;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #child: ChildProcess;
  readonly #startedAtMs = performance.now();
  /** Resolves with the exit code; null where it had to be killed. */
  readonly ended: Promise<number | null>;
  /** Resolves with the seconds from the command to the line that says so. */
  readonly serving: Promise<number>;

  static async start(
    image: BuiltImage,
    environment: Readonly<Record<string, string>>,
  ): Promise<Container> {
    const [port = 0, adminPort = 0] = await freePorts(2);
    return new Container(image, environment, port, adminPort);
  }

  private constructor(
    image: BuiltImage,
    environment: Readonly<Record<string, string>>,
    port: number,
    adminPort: number,
  ) {
    this.#image = image;
    this.#environment = {
      ...environment,
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      // The image's settings are for a network of its own; this machine's is shared.
      HOST: '127.0.0.1',
      ADMIN_HOST: '127.0.0.1',
      SHUTDOWN_DELAY_MS: '0',
    };
    this.url = `http://127.0.0.1:${port}`;
    this.adminUrl = `http://127.0.0.1:${adminPort}`;
    this.volume = mkdtempSync(join(image.volumesFolder, 'volume-'));
    const [user = '', group = ''] = image.config.User.split(':');
    chownSync(this.volume, Number(user), Number(group));
    this.#child = this.#enter(image.config.Cmd);
    this.ended = once(this.#child, 'close').then(([code]) => code);
    this.serving = this.#whenServing();
    // Whoever waits for it learns of it.
    this.serving.catch(() => {});
  }

  /** Runs the image's own health check beside it. */
  async isHealthy(): Promise<boolean> {
    const [kind, ...command] = this.#image.config.Healthcheck.Test;
    if (kind !== 'CMD') throw new Error(`a health check that is not run here: ${kind}`);
    const [code] = await once(this.#enter(command), 'exit');
    return code === 0;
  }

  /** The file of /proc of the service itself, which is process 1 of its namespace. */
  status(): Readonly<Record<string, string>> {
    const lines = readFileSync(`/proc/${this.#pid()}/status`, 'utf8').trim().split('\n');
    return Object.fromEntries(lines.map((line) => line.split(/:\s+/, 2)));
  }

  /** Returns true where the service can write to nothing but what is mounted below. */
  hasReadOnlyRoot(): boolean {
    const mounts = readFileSync(`/proc/${this.#pid()}/mountinfo`, 'utf8');
    return /^(\S+ ){4}\/ ro\b/m.test(mounts);
  }

  /** The names in a folder as the service sees it, with what is mounted there. */
  namesIn(folder: string): string[] {
    return readdirSync(join(`/proc/${this.#pid()}/root`, folder));
  }

  /** Resolves with the exit code. */
  stop(): Promise<number | null> {
    process.kill(this.#pid(), 'SIGTERM');
    return this.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }

  /** `unshare` waits for it, so that it is the only child. */
  #pid(): number {
    const { pid } = this.#child;
    const [own] = readdirSync(`/proc/${pid}/task`);
    const [child = ''] = readFileSync(
      join(`/proc/${pid}/task`, own ?? '', 'children'),
      'utf8',
    ).split(' ');
    if (child === '') throw new Error(`the container runs no longer:\n${this.#said()}`);
    return Number(child);
  }

  #enter(command: readonly string[]): ChildProcess {
    const { rootFolder, config } = this.#image;
    const variables = Object.entries(this.#environment).map(([name, value]) => `${name}=${value}`);
    const namespaces = ['--mount', '--pid', '--fork', '--kill-child'];
    return spawn(
      'unshare',
      [
        ...[...namespaces, 'sh', '-c', ENTER, 'sh', rootFolder, this.volume],
        ...[...config.User.split(':'), ...config.Env, ...variables, ...command],
      ],
      { timeout: LONGEST_MS, killSignal: 'SIGKILL' },
    );
  }

  async #whenServing(): Promise<number> {
    const { stdout, stderr } = this.#child;
    if (stdout === null || stderr === null) throw new Error('the container has no output');
    createInterface({ input: stderr }).on('line', (line) => this.errors.push(line));
    return new Promise((resolve, reject) => {
      void this.ended.then((code) => {
        reject(new Error(`the container ended with ${code}:\n${this.#said()}`));
      });
      createInterface({ input: stdout }).on('line', (line) => {
        this.output.push(line);
        if (/\bserving\b/.test(line)) resolve((performance.now() - this.#startedAtMs) / 1_000);
      });
    });
  }

  #said(): string {
    return [...this.output, ...this.errors].join('\n');
  }
}
