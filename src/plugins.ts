import type { TeamPlugin } from './engine/index.ts';

/**
 * Plugins of envelop or yoga, in the order in which they run around the service's own. Add yours here.
 *
 * These hooks run for every operation that was admitted, on every transport: `onPluginInit`, `onEnveloped`, `onParse`,
 * `onValidate`, `onContextBuilding`, `onExecute`, `onSubscribe` and what they return, and `onDispose`. The context has the
 * `caller` and the `headers` of the request, and no `request`. A hook may refuse an operation, add rules of validation, and change results
 * and events. The document, the variables and the schema stay what was admitted.
 *
 * Hooks of yoga's HTTP handler do not run, since the transports are the service's own: `onRequest`, `onRequestParse`,
 * `onParams`, `onExecutionResult`, `onResultProcess`, `onResponse`.
 *
 * An error that a plugin leaves uncaught, in a timer say, ends the process like any other bug.
 */
export const plugins: readonly TeamPlugin[] = [];
