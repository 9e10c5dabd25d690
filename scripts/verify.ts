// Runs every static check of the project, as many at once as there are cores. A failure does not stop the other checks.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { text } from 'node:stream/consumers';

const tsc = 'node_modules/typescript/bin/tsc';
/** The checks that take longest come first. */
const CHECKS = {
  'lint and format, which `npm run format` repairs': [
    'node_modules/@biomejs/biome/bin/biome',
    'check',
    '.',
  ],
  types: [tsc],
  "the server's types, without a browser's globals": [tsc, '-p', 'tsconfig.server.json'],
  "the types of the client's tests": [tsc, '-p', 'client/test'],
  'the types of the examples': [tsc, '-p', 'examples'],
  "the client's types": [tsc, '--noEmit', '-p', 'client'],
  "the types of GraphiQL's page": [tsc, '-p', 'src/graphiql/page'],
  "the page's types": [tsc, '-p', 'src/page'],
  'what is made from the code': ['scripts/docs.ts', '--check'],
  'the licences of packages': ['scripts/check-licenses.ts'],
  'the sizes': ['scripts/sizes.ts'],
};

// All loops of `checkInTurn` share this iterator, so that each check runs once.
const waiting = Object.entries(CHECKS).values();
await Promise.all(Array.from({ length: availableParallelism() }, checkInTurn));

async function checkInTurn(): Promise<void> {
  for (const [name, args] of waiting) {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const [out, err, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    process.stdout.write(`${out}${err}${name}: ${status === 0 ? 'fine' : 'FAILED'}\n`);
    if (status !== 0) process.exitCode = 1;
  }
}
