import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../../../src/config.ts';
import { type GraphQLAnswer, postQuery, type QueryOptions } from '../../support/app.ts';
import { freePort } from '../../support/free-ports.ts';

export interface WeighedFacade extends AsyncDisposable {
  readonly url: string;
  readonly adminUrl: string;
  query(document: string, options?: QueryOptions): Promise<GraphQLAnswer>;
  /** The heap's size after a garbage collection. */
  heldBytes(): Promise<number>;
  /** The CPU that the process has used, in microseconds: what else the machine does is not in it. */
  cpuMicros(): Promise<number>;
}

const program = fileURLToPath(new URL('weighed-main.ts', import.meta.url));

/** Runs the whole program in a process of its own, so that nothing else is measured. */
export async function startWeighedFacade(environment: Environment): Promise<WeighedFacade> {
  const adminPort = await freePort();
  const child = fork(program, {
    env: { PORT: '0', ADMIN_PORT: String(adminPort), ORDER_STORE: 'memory', ...environment },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const url = await addressOf(child);
  const ask = async (question: 'weigh' | 'cpu') => {
    const answered = once(child, 'message');
    child.send(question);
    const [answer] = await answered;
    return answer as number;
  };
  return {
    url,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    query: (document, options = {}) => postQuery(`${url}/graphql`, document, options),
    heldBytes: () => ask('weigh'),
    cpuMicros: () => ask('cpu'),
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the facade left with ${code}`)));
    if (!child.stdout) throw new Error('its output is not piped');
    createInterface({ input: child.stdout }).on('line', (line) => {
      const address = /"url":"([^"]+)","msg":"serving"/.exec(line)?.[1];
      if (address) resolve(address);
    });
  });
}
