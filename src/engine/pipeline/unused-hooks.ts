import type { Log } from '../../lib/log.ts';

/** Yoga's HTTP handler calls these, and the transports are used in its place. */
const HTTP_HOOKS = [
  'onRequest',
  'onRequestParse',
  'onParams',
  'onExecutionResult',
  'onResultProcess',
  'onResponse',
];

/** Warns of each hook of a plugin that never runs. */
export function warnOfUnusedHooks(plugins: readonly object[], log: Pick<Log, 'warn'>): void {
  for (const [index, plugin] of plugins.entries()) {
    for (const hook of HTTP_HOOKS.filter((name) => name in plugin)) {
      const message = 'a plugin has a hook of yoga’s HTTP handler, which is not used';
      log.warn({ hook, plugin: index + 1 }, message);
    }
  }
}
