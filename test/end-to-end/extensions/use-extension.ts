import { join } from 'node:path';
import { beforeEach } from 'vitest';
import { startSandbox } from '../../../sandbox/start.ts';
import type { Environment } from '../../../src/config.ts';
import type { QueryOptions } from '../../support/app.ts';
import { startFacadeProcess } from '../../support/facade-process.ts';
import { startedOnce } from '../../support/started.ts';
import { healthy, startSideService } from './side-service.ts';

/** The program with an extension, a gateway and the team's other service, for all tests of a file; it is healthy before each. */
export function useExtension(file: string, environmentOf: (serviceUrl: string) => Environment) {
  const sandbox = startedOnce(() => startSandbox({ tickMs: 0 }));
  const service = startedOnce(startSideService);
  const facade = startedOnce(() =>
    startFacadeProcess({
      GATEWAY_URL: sandbox.url,
      EXTENSIONS: join(import.meta.dirname, file),
      ...environmentOf(service.url),
    }),
  );
  beforeEach(() => {
    service.answer = healthy;
    service.received.length = 0;
  });
  return {
    sandbox,
    service,
    facade,
    query: (document: string, options?: QueryOptions) => facade.query(document, options),
    tokenOf: (email = 'demo@example.com') => sandbox.token({ email }),
  };
}
