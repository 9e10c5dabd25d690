// Every static check of the project; all of them run, so that one failure does not hide another.
import { spawnSync } from 'node:child_process';

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
    args: ['-p', 'graphiql/page'],
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
for (const { name, script, args } of CHECKS) {
  const { status } = spawnSync(process.execPath, [script, ...args], { stdio: 'inherit' });
  console.log(`${name}: ${status === 0 ? 'fine' : 'FAILED'}`);
  hasFailed ||= status !== 0;
}
process.exitCode = hasFailed ? 1 : 0;
