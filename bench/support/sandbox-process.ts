/** The sandbox gateway by itself, for whom its own work is not what is measured. */
import { startSandbox } from '../../src/sandbox/start.ts';

await startSandbox({ seed: 'bench', port: Number(process.env.PORT), tickMs: 0 });
