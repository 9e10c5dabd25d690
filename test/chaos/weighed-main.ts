import { heldBytes } from '../support/heap.ts';

// The program as it is started by operators, which tells its parent how much it holds.
process.on('message', () => process.send?.(heldBytes()));
// Whoever weighs it may be ended in a hurry; it must not stay behind.
process.once('disconnect', () => process.exit());
await import('../../src/main.ts');
