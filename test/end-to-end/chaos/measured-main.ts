import { heldBytes } from '../../support/heap.ts';

// Runs the program as operators start it. On a signal it prints its heap size and its CPU time.
process.on('SIGUSR2', () => {
  const { user, system } = process.cpuUsage();
  const figures = { heldBytes: heldBytes(), cpuMicros: user + system };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
});
await import('../../../src/main.ts');
