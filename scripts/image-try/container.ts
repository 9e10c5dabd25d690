import { spawn } from 'node:child_process';
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
const MAX_MS = 120_000;

export type Container = Awaited<ReturnType<typeof startContainer>>;

/** The image's command as a container would have it: its user, its environment, a read-only root. */
export async function startContainer(
  image: BuiltImage,
  environment: Readonly<Record<string, string>>,
) {
  const [port = 0, adminPort = 0] = await freePorts(2);
  const given = {
    ...environment,
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    // The image's settings are for a network of its own; this machine's is shared.
    HOST: '127.0.0.1',
    ADMIN_HOST: '127.0.0.1',
    SHUTDOWN_DELAY_MS: '0',
  };
  const { config, rootFolder } = image;
  const volume = mkdtempSync(join(image.volumesFolder, 'volume-'));
  const [user = '', group = ''] = config.User.split(':');
  chownSync(volume, Number(user), Number(group));

  function enter(command: readonly string[]) {
    const variables = Object.entries(given).map(([name, value]) => `${name}=${value}`);
    const namespaces = ['--mount', '--pid', '--fork', '--kill-child'];
    return spawn(
      'unshare',
      [
        ...[...namespaces, 'sh', '-c', ENTER, 'sh', rootFolder, volume],
        ...[user, group, ...config.Env, ...variables, ...command],
      ],
      { timeout: MAX_MS, killSignal: 'SIGKILL' },
    );
  }

  const output: string[] = [];
  const errors: string[] = [];
  const said = () => [...output, ...errors].join('\n');
  const startedAtMs = performance.now();
  const child = enter(config.Cmd);
  const ended: Promise<number | null> = once(child, 'close').then(([code]) => code);
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line));
  const serving = new Promise<number>((resolve, reject) => {
    void ended.then((code) => reject(new Error(`the container ended with ${code}:\n${said()}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      output.push(line);
      if (/\bserving\b/.test(line)) resolve((performance.now() - startedAtMs) / 1_000);
    });
  });
  // Its waiters learn of it.
  serving.catch(() => {});

  /** `unshare` waits for it, so that it is the only child. */
  function pidOfService(): number {
    const tasks = `/proc/${child.pid}/task`;
    const [own = ''] = readdirSync(tasks);
    const [pid] = readFileSync(join(tasks, own, 'children'), 'utf8').split(' ');
    if (!pid) throw new Error(`the container runs no longer:\n${said()}`);
    return Number(pid);
  }

  return {
    url: `http://127.0.0.1:${port}`,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    /** Mounted on the image's volume. */
    volume,
    /** Lines of its standard output and of its errors. */
    output,
    errors,
    /** Resolves with the exit code; null where it had to be killed. */
    ended,
    /** Resolves with the seconds from the command to the line that says so. */
    serving,

    /** Runs the image's own health check beside it. */
    async isHealthy(): Promise<boolean> {
      const [kind, ...command] = config.Healthcheck.Test;
      if (kind !== 'CMD') throw new Error(`a health check that is not run here: ${kind}`);
      const [code] = await once(enter(command), 'exit');
      return code === 0;
    },

    /** The file of /proc of the service itself, which is process 1 of its namespace. */
    status(): Readonly<Record<string, string>> {
      const lines = readFileSync(`/proc/${pidOfService()}/status`, 'utf8').trim().split('\n');
      return Object.fromEntries(lines.map((line) => line.split(/:\s+/, 2)));
    },

    /** Returns true where the service can write to nothing but what is mounted below. */
    hasReadOnlyRoot(): boolean {
      const mounts = readFileSync(`/proc/${pidOfService()}/mountinfo`, 'utf8');
      return /^(\S+ ){4}\/ ro\b/m.test(mounts);
    },

    /** The names in a folder as the service sees it, with what is mounted there. */
    namesIn: (folder: string) => readdirSync(join(`/proc/${pidOfService()}/root`, folder)),

    /** Resolves with the exit code. */
    stop(): Promise<number | null> {
      process.kill(pidOfService(), 'SIGTERM');
      return ended;
    },

    async [Symbol.asyncDispose](): Promise<void> {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
