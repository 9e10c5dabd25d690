import { fileURLToPath } from 'node:url';
import type { Environment } from '../../../src/config.ts';
import { eventually } from '../../support/eventually.ts';
import { type FacadeProcess, startFacadeProcess } from '../../support/facade-process.ts';

interface Figures {
  /** The heap's size after a garbage collection. */
  readonly heldBytes: number;
  /** The CPU that the process has used: what else the machine does is not in it. */
  readonly cpuMicros: number;
}

export interface WeighedFacade extends FacadeProcess {
  weigh(): Promise<Figures>;
}

const program = fileURLToPath(new URL('weighed-main.ts', import.meta.url));

/** The whole program in a process of its own, so that nothing else is measured. */
export async function startWeighedFacade(
  environment: Environment & { readonly GATEWAY_URL: string },
): Promise<WeighedFacade> {
  const settings = { ORDER_STORE: 'memory', ...environment };
  const facade = await startFacadeProcess(settings, [], program);
  const weigh = async () => {
    const before = facade.logged.length;
    const find = () => facade.logged.slice(before).find((line) => line.includes('"heldBytes"'));
    facade.signal('SIGUSR2');
    await eventually(() => find() !== undefined);
    return JSON.parse(find() as string) as Figures;
  };
  return Object.assign(facade, { weigh });
}
