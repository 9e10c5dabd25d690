import { execFileSync } from 'node:child_process';
import { Client } from 'undici';
import { expect, test } from 'vitest';
import { type FacadeProcess, startFacadeProcess } from '../../support/facade-process.ts';

const NO_GATEWAY = 'http://127.0.0.1:9';

test.runIf(process.platform === 'linux')(
  'a module that cannot be loaded with its first request is loaded with a later one',
  async () => {
    await using facade = await startFacadeProcess({
      GATEWAY_URL: NO_GATEWAY,
      ORDER_STORE: 'memory',
    });
    const client = new Client(facade.url);
    const status = async (method: 'GET' | 'PUT', path: string) => {
      const { statusCode, body } = await client.request({ path, method });
      await body.dump();
      return statusCode;
    };
    try {
      expect(await status('GET', '/health/live')).toBe(200);
      // The connection is there already, and nothing more can be opened.
      limitFiles(facade, '1:');
      // Yoga says which methods are allowed.
      expect(await status('PUT', '/graphql')).toBe(500);
      limitFiles(facade, '1024:');
      expect(await status('PUT', '/graphql')).toBe(405);
    } finally {
      await client.close();
    }
  },
);

/** Sets the soft limit of open files; those that are open stay open. */
function limitFiles({ pid }: FacadeProcess, limit: string): void {
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${limit}`]);
}
