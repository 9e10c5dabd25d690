import { heldBytes } from '../../support/heap.ts';

// Runs the program as operators start it; asked by a signal, it writes a line of what it holds and has used.
process.on('SIGUSR2', () => {
  const { user, system } = process.cpuUsage();
  const figures = { heldBytes: heldBytes(), cpuMicros: user + system };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
});
await import('../../../src/main.ts');
