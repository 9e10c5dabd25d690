// Every static check of the project, as many at once as there are cores; all of them run, so that one failure does not hide another.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { text } from 'node:stream/consumers';

const tsc = 'node_modules/typescript/bin/tsc';
/** Those that take longest come first. */
const CHECKS = [
  {
    name: 'lint and format',
    script: 'node_modules/@biomejs/biome/bin/biome',
    args: ['check', '.'],
  },
  { name: 'types', script: tsc, args: [] },
  {
    name: "the server's types, without a browser's globals",
    script: tsc,
    args: ['-p', 'tsconfig.server.json'],
  },
  { name: "the types of the client's tests", script: tsc, args: ['-p', 'client/test'] },
  { name: 'the types of the examples', script: tsc, args: ['-p', 'examples'] },
  { name: 'the types of the example with Expo', script: tsc, args: ['-p', 'examples/expo/types'] },
  { name: "the client's types", script: tsc, args: ['--noEmit', '-p', 'client'] },
  { name: "the types of GraphiQL's page", script: tsc, args: ['-p', 'graphiql/page'] },
  { name: "the page's types", script: tsc, args: ['-p', 'page'] },
  { name: 'what is made from the code', script: 'scripts/docs.ts', args: ['--check'] },
  { name: 'the licences of packages', script: 'scripts/check-licenses.ts', args: [] },
];

const waiting = CHECKS.values();
await Promise.all(Array.from({ length: availableParallelism() }, checkInTurn));

async function checkInTurn(): Promise<void> {
  for (const { name, script, args } of waiting) {
    const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    const [out, err, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    process.stdout.write(`${out}${err}${name}: ${status === 0 ? 'fine' : 'FAILED'}\n`);
    if (status !== 0) process.exitCode = 1;
  }
}
