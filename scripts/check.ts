// Every static check of the project; all of them run, so that one failure does not hide another.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { text } from 'node:stream/consumers';

const CHECKS = [
  {
    name: 'lint and format',
    script: 'node_modules/@biomejs/biome/bin/biome',
    args: ['check', '.'],
  },
  { name: 'schema.graphql', script: 'scripts/print-schema.ts', args: ['--check'] },
  { name: 'docs/errors.md', script: 'scripts/errors-doc.ts', args: ['--check'] },
  { name: 'docs/metrics.md', script: 'scripts/metrics-doc.ts', args: ['--check'] },
  {
    name: "the client's generated files",
    script: 'scripts/client-generated.ts',
    args: ['--check'],
  },
  { name: 'the licences of packages', script: 'scripts/check-licenses.ts', args: [] },
  { name: 'types', script: 'node_modules/typescript/bin/tsc', args: [] },
  {
    name: "the types of GraphiQL's page",
    script: 'node_modules/typescript/bin/tsc',
    args: ['-p', 'src/server/graphiql/page'],
  },
  {
    name: "the client's types",
    script: 'node_modules/typescript/bin/tsc',
    args: ['--noEmit', '-p', 'client'],
  },
  {
    name: "the types of the client's tests",
    script: 'node_modules/typescript/bin/tsc',
    args: ['-p', 'client/test'],
  },
  {
    name: "the page's types",
    script: 'node_modules/typescript/bin/tsc',
    args: ['-p', 'page'],
  },
  {
    name: 'the types of the examples',
    script: 'node_modules/typescript/bin/tsc',
    args: ['-p', 'examples'],
  },
];

let hasFailed = false;
const waiting = [...CHECKS];

async function checkInTurn(): Promise<void> {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { name, script, args } = next;
    const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    const said = Promise.all([text(child.stdout), text(child.stderr)]);
    const [status] = await once(child, 'close');
    process.stdout.write(`${(await said).join('')}${name}: ${status === 0 ? 'fine' : 'FAILED'}\n`);
    hasFailed ||= status !== 0;
  }
}

await Promise.all(Array.from({ length: availableParallelism() }, checkInTurn));
process.exitCode = hasFailed ? 1 : 0;
