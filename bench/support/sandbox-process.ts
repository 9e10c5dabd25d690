/** The sandbox gateway in a process of its own, where its own work must not be measured. */
import { startSandbox } from '../../src/sandbox/start.ts';

const { PORT, SECRET } = process.env;
await startSandbox({ seed: 'bench', secret: SECRET, port: Number(PORT), tickMs: 0 });
