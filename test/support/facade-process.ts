import { fileURLToPath } from 'node:url';
import type { Environment } from '../../src/config.ts';
import { type GraphQLAnswer, postQuery, type QueryOptions } from './app.ts';
import { compileCache } from './compile-cache.ts';
import { assertNoLeak, readMetrics } from './leaks.ts';
import { PATIENT } from './patient.ts';
import { PROGRAM } from './program.ts';
import { type Program, startProgram } from './started-program.ts';

export interface FacadeProcess extends Program {
  /** The address changes when the program is started again, unless the environment sets `PORT`. */
  readonly url: string;
  readonly webSocketUrl: string;
  readonly adminUrl: string;
  query(document: string, options?: QueryOptions): Promise<GraphQLAnswer>;
}

const SERVING = /"adminUrl":"([^"]+)","url":"([^"]+)","msg":"serving"/;
const cwd = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Starts the program as operators run it, by default without a file of orders. Its gateway is the caller's, so that the
 * program can be started again with it.
 */
export async function startFacadeProcess(
  environment: Environment & { readonly GATEWAY_URL: string },
  nodeFlags: readonly string[] = [],
  program = PROGRAM,
): Promise<FacadeProcess> {
  let url = '';
  let adminUrl = '';
  const isServing = (lines: readonly string[]) => {
    const [, admin, address] = SERVING.exec(lines.join('\n')) ?? [];
    if (!admin || !address) return false;
    adminUrl = admin;
    url = address;
    return true;
  };
  const own = { PORT: '0', ADMIN_PORT: '0', ORDER_STORE: 'memory' };
  const env = { ...own, ...PATIENT, ...compileCache(), ...environment };
  const args = [...nodeFlags, program];
  const started = await startProgram(process.execPath, args, isServing, { cwd, env });
  return {
    ...started,
    get url() {
      return url;
    },
    get webSocketUrl() {
      return `${url.replace('http', 'ws')}/graphql`;
    },
    get adminUrl() {
      return adminUrl;
    },
    query: (document, options = {}) => postQuery(`${url}/graphql`, document, options),
    async [Symbol.asyncDispose]() {
      const metrics = await readMetrics(adminUrl);
      await started.kill();
      assertNoLeak('metrics', [metrics]);
      assertNoLeak('log', started.logged);
    },
  };
}
