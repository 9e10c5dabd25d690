import { fileURLToPath } from 'node:url';
import type { Environment } from '../../../src/config.ts';
import { eventually } from '../../support/eventually.ts';
import { type FacadeProcess, startFacadeProcess } from '../../support/facade-process.ts';

const PROGRAM = fileURLToPath(new URL('measured-main.ts', import.meta.url));

interface Measurement {
  readonly heldBytes: number;
  readonly cpuMicros: number;
}

/** Starts the service in a separate process, so that only its memory and CPU time are measured. */
export function startMeasured(environment: Environment & { readonly GATEWAY_URL: string }) {
  return startFacadeProcess(environment, [], PROGRAM);
}

/** Measures the heap after a garbage collection, and the CPU time that the process has used. */
export async function measure(facade: FacadeProcess): Promise<Measurement> {
  const before = facade.logged.length;
  const findResult = () => facade.logged.slice(before).find((line) => line.includes('"heldBytes"'));
  facade.signal('SIGUSR2');
  await eventually(() => findResult() !== undefined);
  return JSON.parse(findResult() as string);
}
