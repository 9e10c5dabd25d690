/** The sandbox gateway by itself, for whom its own work is not what is measured. */
import { startSandbox } from '../../src/sandbox/start.ts';

const { PORT, INSTRUMENTS = '500', TICK_MS = '0' } = process.env;
await startSandbox({
  seed: 'bench',
  port: Number(PORT),
  instruments: Number(INSTRUMENTS),
  tickMs: Number(TICK_MS),
});
