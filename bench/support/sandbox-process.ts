/** The sandbox gateway in a process of its own, where its own work must not be measured. */
import { startSandbox } from '../../sandbox/start.ts';

const { PORT, INSTRUMENTS = '500', TICK_MS = '0', SECRET } = process.env;
await startSandbox({
  seed: 'bench',
  secret: SECRET,
  port: Number(PORT),
  instruments: Number(INSTRUMENTS),
  tickMs: Number(TICK_MS),
});
