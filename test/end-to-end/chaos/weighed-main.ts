import { heldBytes } from '../../support/heap.ts';

// Runs the program as operators start it; it reports its heap's size or its CPU to its parent.
process.on('message', (question) => {
  const { user, system } = process.cpuUsage();
  process.send?.(question === 'cpu' ? user + system : heldBytes());
});
// The parent may be killed; this process must not outlive it.
process.once('disconnect', () => process.exit());
await import('../../../src/main.ts');
