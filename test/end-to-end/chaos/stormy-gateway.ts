import type { Fault } from '../../../sandbox/faults.ts';
import { type SandboxOptions, startSandbox } from '../../../sandbox/start.ts';

/** What a network does to every operation at once: a fault, or a port at which nothing listens. */
export type Storm = Omit<Fault, 'operation'> | { readonly kind: 'refuse' };

/** A gateway behind a network that fails. After a storm that refused connections it begins anew, with the same tokens. */
export async function startStormyGateway(options: SandboxOptions) {
  let sandbox = await startSandbox({ ...options, tickMs: 0 });
  let isAway = false;
  const { url, port } = sandbox;
  return {
    url,
    get sandbox() {
      return sandbox;
    },
    async begin(storm: Storm): Promise<void> {
      isAway = storm.kind === 'refuse';
      if (storm.kind === 'refuse') await sandbox.close();
      else sandbox.fail({ ...storm, operation: '*' });
    },
    async end(): Promise<void> {
      sandbox.clearFaults();
      if (isAway) sandbox = await startSandbox({ ...options, tickMs: 0, port });
      isAway = false;
    },
    [Symbol.asyncDispose]: () => sandbox.close(),
  };
}
