import type { TeamPlugin } from './engine/index.ts';

/**
 * Plugins of envelop or yoga, in the order in which they run around the service's own. Add yours here.
 *
 * These hooks run for every operation that was admitted, on every transport: `onPluginInit`, `onEnveloped`, `onParse`,
 * `onValidate`, `onContextBuilding`, `onExecute`, `onSubscribe`, the hooks that these return, and `onDispose`. The context
 * has the `caller` and the `headers` of the request, but no `request`. A hook may refuse an operation, add rules of
 * validation, and change results, events and parts of an answer. It cannot change the document, the variables or the schema.
 *
 * Hooks of yoga's HTTP handler do not run, since the transports are the service's own: `onRequest`, `onRequestParse`,
 * `onParams`, `onExecutionResult`, `onResultProcess`, `onResponse`. The start warns of them.
 *
 * An error that a plugin does not catch, for example in a timer, ends the process.
 */
export const plugins: readonly TeamPlugin[] = [];
