import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../../src/config.ts';
import { type GraphQLAnswer, postQuery, type QueryOptions } from './app.ts';
import { compileCache } from './compile-cache.ts';
import { assertNoLeak, readMetrics } from './leaks.ts';
import { PATIENT } from './patient.ts';
import { PROGRAM } from './program.ts';

export interface FacadeProcess extends AsyncDisposable {
  /** Changes with each start: ports are free ones. */
  readonly url: string;
  readonly webSocketUrl: string;
  readonly adminUrl: string;
  readonly pid: number | undefined;
  /** Every line of all its lives, on stdout and on stderr. */
  readonly logged: readonly string[];
  query(document: string, options?: QueryOptions): Promise<GraphQLAnswer>;
  /** Resolves when it serves. */
  start(): Promise<void>;
  /** Ends it as a power cut would. */
  kill(): Promise<void>;
  /** SIGTERM has it drain and exit. */
  signal(signal: 'SIGTERM' | 'SIGSTOP' | 'SIGCONT' | 'SIGUSR2'): void;
  /** Resolves with the exit code once it has exited; null where a signal ended it. */
  ended(): Promise<number | null>;
}

const SERVING = /"adminUrl":"([^"]+)","url":"([^"]+)","msg":"serving"/;
const folder = fileURLToPath(new URL('../..', import.meta.url));

/** The program itself, as operators run it, against a gateway that outlives it. */
export async function startFacadeProcess(
  environment: Environment & { readonly GATEWAY_URL: string },
  nodeFlags: readonly string[] = [],
  program = PROGRAM,
): Promise<FacadeProcess> {
  const logged: string[] = [];
  let child: ChildProcess | null = null;
  let exit: Promise<number | null> = Promise.resolve(0);
  let url = '';
  let adminUrl = '';

  async function start() {
    const isRunning = child !== null && child.exitCode === null && child.signalCode === null;
    if (isRunning) throw new Error('the facade runs already');
    const started = spawn(process.execPath, [...nodeFlags, program], {
      cwd: folder,
      env: {
        PORT: '0',
        ADMIN_PORT: '0',
        ...PATIENT,
        ...compileCache(),
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = started;
    exit = once(started, 'close').then(([code]) => code as number | null);
    createInterface({ input: started.stderr }).on('line', (line) => {
      logged.push(line);
      process.stderr.write(`${line}\n`);
    });
    url = await new Promise<string>((resolve, reject) => {
      exit.then((code) => {
        reject(new Error(`the facade left with ${code} before it served: ${logged.at(-1)}`));
      });
      createInterface({ input: started.stdout }).on('line', (line) => {
        logged.push(line);
        const [, admin, address] = SERVING.exec(line) ?? [];
        if (!admin || !address) return;
        adminUrl = admin;
        resolve(address);
      });
    });
  }

  async function kill() {
    child?.kill('SIGKILL');
    await exit;
  }

  await start();
  return {
    get url() {
      return url;
    },
    get webSocketUrl() {
      return `${url.replace('http', 'ws')}/graphql`;
    },
    get adminUrl() {
      return adminUrl;
    },
    get pid() {
      return child?.pid;
    },
    logged,
    query: (document, options = {}) => postQuery(`${url}/graphql`, document, options),
    start,
    kill,
    signal: (signal) => void child?.kill(signal),
    ended: () => exit,
    async [Symbol.asyncDispose]() {
      const metrics = await readMetrics(adminUrl);
      await kill();
      assertNoLeak('metrics', [metrics]);
      assertNoLeak('log', logged);
    },
  };
}
