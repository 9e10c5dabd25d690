import { globSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

/**
 * Suites that take minutes: pages and guides in a browser, and tests that repeat with random faults, or for a long time,
 * what other suites check once. `npm test` leaves them out; `npm test -- --long` and `-- --all` run them.
 */
export const LONG_SUITES: readonly string[] = [
  'client/test/examples/**/*.test.ts',
  'client/test/follow/other-clients.test.ts',
  'client/test/frameworks/*.test.ts',
  'client/test/guides/empty-folder.test.ts',
  'client/test/packaging/**/*.test.ts',
  'client/test/react/hooks.test.ts',
  'client/test/storage/indexed-db.test.ts',
  'test/deploy/{alertmanager,restarts}.test.ts',
  'test/end-to-end/chaos/{floods,fuzz,sockets}.test.ts',
  'test/end-to-end/limits/{attacks,pipelining,senders}.test.ts',
  'test/end-to-end/live/unread-sockets.test.ts',
  'test/end-to-end/operations/stuck-log.test.ts',
  'test/end-to-end/orders/{disputed,going-back,locked-file,shutdown,spoilt-redis}.test.ts',
  'test/end-to-end/sandbox/{demo-hero,demo-panels,graphiql-live,graphiql-own-gateway,graphiql-page}.test.ts',
  'test/end-to-end/scale/routing.test.ts',
  'test/end-to-end/transports/broken-frames.test.ts',
  'test/toolchain/{graphiql-bundle,packages}.test.ts',
];

/** The long suites that CI has time for: of the pages, of a browser's order keys, of the packages, of sockets, and of orders over another version or a shutdown. */
const SUITES_OF_CI: readonly string[] = [
  'client/test/frameworks/forms.test.ts',
  'client/test/packaging/package.test.ts',
  'client/test/react/hooks.test.ts',
  'client/test/storage/indexed-db.test.ts',
  'test/end-to-end/chaos/sockets.test.ts',
  'test/end-to-end/orders/going-back.test.ts',
  'test/end-to-end/orders/shutdown.test.ts',
  'test/end-to-end/sandbox/demo-hero.test.ts',
  'test/toolchain/graphiql-bundle.test.ts',
];

/** Suites that need more tools, or that install for minutes. Only `npm test -- --all` runs them, or a run that names them. */
const SUITES_IN_FULL: readonly string[] = [
  'client/test/guides/empty-folder.test.ts',
  'client/test/packaging/bundlers.test.ts',
];

/** Suites that get their own process, since they measure it or keep a core busy. Other suites may run at the same time. */
export const SUITES_OF_THEIR_OWN: readonly string[] = [
  'client/test/guides/*.test.ts',
  'client/test/packaging/**/*.test.ts',
  'test/{deploy,packaging,toolchain}/**/*.test.ts',
  'test/domain/cached-sizes.test.ts',
  'test/gateway/connections.test.ts',
  'test/end-to-end/limits/{attacks,senders}.test.ts',
  'test/end-to-end/live/own-list.test.ts',
  'test/end-to-end/operations/stuck-log.test.ts',
  'test/end-to-end/orders/shutdown.test.ts',
  'test/end-to-end/start/**/*.test.ts',
  'test/end-to-end/transports/{draining,shutdown}.test.ts',
  'test/lib/byte-collector.test.ts',
  'test/sandbox/held-bytes.test.ts',
  'test/engine/documents/compiler/compiling-executor.test.ts',
  'test/engine/requests/idle-readers.test.ts',
  'test/store/{redis,sqlite}/**/*.test.ts',
];

/** The slowest suites, the slowest first: browsers, installations, and waits for time-outs. */
export const LONGEST: readonly string[] = [
  'test/end-to-end/orders/going-back',
  'client/test/guides/empty-folder',
  'test/end-to-end/sandbox/demo-panels',
  'test/end-to-end/scale/routing',
  'client/test/guides/samples',
  'client/test/packaging/package',
  'test/end-to-end/start/start',
  'test/end-to-end/orders/shutdown',
  'test/end-to-end/transports/shutdown',
];

/** Suites that run while no other suite runs: they transfer so many bytes that their waits would time out. */
export const SUITES_ALONE: readonly string[] = ['test/end-to-end/limits/pipelining.test.ts'];

/** The suites that this run leaves out. A file in the command always runs, and a folder without its long suites. */
export function leftOut(): readonly string[] {
  const { FULL, LONG, CI } = process.env;
  if (FULL) return [];
  // In `vitest run` the word `run` is the command, and not a part of a path, although some paths contain it.
  const isName = (each: string) =>
    each !== 'run' && !each.startsWith('-') && filesOf(each).length > 0;
  const names = process.argv.slice(2).filter(isName);
  const find = (patterns: readonly string[]) => globSync(patterns, { cwd: ROOT });
  if (LONG) {
    const isNamed = (file: string) => names.some((name) => file.includes(name));
    return find(SUITES_IN_FULL).filter((file) => !isNamed(file));
  }
  const long = find(LONG_SUITES);
  if (names.length === 0) {
    if (!CI) return LONG_SUITES;
    const run = find(SUITES_OF_CI);
    return long.filter((file) => !run.includes(file));
  }
  const selected = names.flatMap(filesOf);
  // A run that selects only long suites runs them.
  if (selected.every((file) => long.includes(file))) return [];
  const named = names.filter((name) => name.endsWith('.test.ts')).flatMap(filesOf);
  return long.filter((file) => selected.includes(file) && !named.includes(file));
}

/** The test files that Vitest selects by an argument: those whose path contains it. */
function filesOf(argument: string): readonly string[] {
  return globSync('{test,client/test}/**/*.test.ts', { cwd: ROOT }).filter((file) =>
    `${ROOT}/${file}`.includes(argument.replace(/^\.\//, '')),
  );
}
