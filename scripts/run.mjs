// Stands in front of every npm script: `node scripts/run.mjs <command> [kind] [arguments]`. Plain JavaScript without
// dependencies, as set-up is: it has to run on a fresh clone, under any Node from 20 on. Each script is `exec node …`:
// without `exec` a SIGTERM would stop npm but leave the server running.
import { join } from 'node:path';
import { root, run, runOnOwnNode, setUp } from './hand-over.mjs';

const vitest = 'node_modules/vitest/vitest.mjs';
const biome = 'node_modules/@biomejs/biome/bin/biome';
const compileCache = { NODE_COMPILE_CACHE: join(root, 'node_modules', '.compile-cache') };

/**
 * Each says what it is for, and has the steps of its kinds, of which the first needs no name. The last step is given the
 * arguments. Packages of tests and tools are brought in but for what is served in production.
 */
export const COMMANDS = {
  help: { says: 'Says what there is to run.', setUp: null, kinds: { all: [] } },
  start: {
    says: 'Runs the service; without GATEWAY_URL with a sandbox gateway of its own.',
    setUp: [],
    env: compileCache,
    kinds: { service: [['src/main.ts']] },
  },
  dev: {
    says: 'Runs the service, and restarts it on every change that it can start with.',
    setUp: [],
    env: compileCache,
    kinds: { service: [['src/cli/main.ts', 'dev']] },
  },
  sandbox: {
    says: 'Runs the sandbox gateway alone.',
    setUp: [],
    env: compileCache,
    kinds: { gateway: [['src/cli/main.ts', 'sandbox']] },
  },
  test: {
    says: 'Runs the tests but for the long suites; -- --all runs these too, --changed those nearest to your change, a file or folder only its own.',
    env: compileCache,
    kinds: {
      suites: [['scripts/test-tools.ts'], [vitest, 'run']],
      '--changed': [['scripts/changed-tests.ts']],
    },
  },
  check: {
    says: 'Checks lint, format, types, licences, and that generated files match the code.',
    kinds: { all: [['scripts/check.ts']] },
  },
  format: {
    says: 'Repairs what Biome can repair.',
    kinds: { all: [[biome, 'check', '--write', '.']] },
  },
  docs: {
    says: 'Writes what is made from the code: pages, schema.graphql, the client, the packed page; -- graphiql its files, -- screenshots the pictures, -- sizes those of the client, -- site the documentation as a folder.',
    kinds: {
      pages: [['scripts/docs.ts'], ['page/bundle.ts']],
      graphiql: [{ npm: ['ci', '--prefix', 'graphiql'] }, ['graphiql/bundle.ts']],
      screenshots: [['scripts/record-run.ts'], ['page/bundle.ts'], ['scripts/screenshots.ts']],
      sizes: [['scripts/client-sizes.ts']],
      site: [['scripts/docs-folder.ts']],
    },
  },
  bench: {
    says: 'Measures CPU per request; bench/README.md has the rest.',
    kinds: { all: [['bench/main.ts']] },
  },
  soak: {
    says: 'Goes on for as long as you like; -- memory, chaos, replicas, rolling, ledger, folds, fuzz, night, or tests again and again.',
    kinds: {
      memory: [['scripts/soak.ts']],
      chaos: [['scripts/soak-chaos.ts']],
      replicas: [['scripts/soak-replicas.ts']],
      rolling: [['scripts/soak-replicas/rolling.ts']],
      ledger: [['scripts/ledger.ts']],
      folds: [['scripts/folds.ts']],
      fuzz: [['scripts/fuzz.ts']],
      night: [['scripts/night.ts']],
      tests: [['scripts/repeat-tests.ts']],
    },
  },
  bundle: {
    says: 'Packs the program into one folder, as the image has it; -- package as an npm package.',
    kinds: { program: [['image/bundle.ts', '.']], package: [['image/pack.ts']] },
  },
  'image:try': {
    says: 'Builds the container image and runs it, as root on Debian or Ubuntu.',
    kinds: { image: [['scripts/image-try.ts']] },
  },
  'pack:client': {
    says: 'Packs trading-graph-client, and says how an app installs it.',
    setUp: null,
    kinds: { client: [{ here: ['scripts/pack-client.mjs'] }] },
  },
  'schema:changes': {
    says: 'Compares the schema with a former one, - reads it from stdin.',
    kinds: { schema: [['scripts/schema-changes.ts']] },
  },
  audit: {
    says: 'Asks the registry for known vulnerabilities of what runs in production; -- sbom prints its packages, as CycloneDX.',
    kinds: {
      all: [['scripts/audit.ts'], ['scripts/audit.ts', 'graphiql']],
      sbom: [['scripts/sbom.ts']],
    },
  },
  release: {
    says: 'Gives all of a release its version, and publishes nothing.',
    kinds: { version: [['scripts/release.ts']] },
  },
};

const [name = 'help', ...given] = process.argv.slice(2);
const command = COMMANDS[name];
if (command === undefined || name === 'help') {
  for (const [each, { says }] of Object.entries(COMMANDS))
    console.log(`npm run ${each.padEnd(16)}${says}`);
  process.exit(command === undefined ? 2 : 0);
}
if (command.setUp !== null) setUp(...(command.setUp ?? ['--all']));
process.exitCode = await runSteps(command, given);

async function runSteps({ env, kinds }, given) {
  const isNamed = Object.hasOwn(kinds, given[0] ?? '');
  const steps = isNamed ? kinds[given[0]] : Object.values(kinds)[0];
  const isFull = name === 'test' && given.includes('--all');
  const args = given.slice(isNamed ? 1 : 0).filter((arg) => !isFull || arg !== '--all');
  const options = {
    cwd: root,
    env: { ...process.env, ...env, ...(isFull && { CI: 'true', FULL: 'true' }) },
  };
  for (const [at, step] of steps.entries()) {
    const code = await runStep(step, at === steps.length - 1 ? args : [], options);
    if (code !== 0) return code;
  }
  return 0;
}

function runStep(step, args, options) {
  if (step.npm) return run('npm', step.npm, options);
  if (step.here) return run(process.execPath, [...step.here, ...args], options);
  return runOnOwnNode([...step, ...args], options);
}
