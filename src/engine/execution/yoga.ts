import { specifiedRules, validate } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { RequestCaller } from '../../lib/limits/request-caller.ts';
import type { Log } from '../../lib/log.ts';
import type { OperationParts } from '../admission/admission.ts';
import type { TransportContext } from '../admission/operation.ts';
import { type Executed, Execution } from './execution.ts';
import { Subscriptions } from './subscriptions.ts';

export const EXECUTED = Symbol('executed');

/** The context of an operation that hooks receive and can extend. Resolvers do not see it. */
interface PluginContext {
  readonly caller: RequestCaller;
  readonly headers: TransportContext['headers'];
  readonly [EXECUTED]: Executed;
}

/** A plugin for this context, or a published one for any. Only `onPluginInit` has a type that one of them cannot have. */
export type TeamPlugin = Omit<Plugin<PluginContext>, 'onPluginInit'> & {
  readonly onPluginInit?: unknown;
};

/** Makes the instance of yoga that all operations pass through. Everything that the transports do is switched off. */
export function createOperationYoga(parts: OperationParts, plugins: readonly TeamPlugin[]) {
  return createYoga({
    schema: parts.schema,
    // A later plugin wraps the functions that earlier ones set, so the team's plugins run around the service's own.
    plugins: [useAdmittedDocument(), useExecution(parts), ...plugins],
    cors: false,
    graphiql: false,
    landingPage: false,
    parserAndValidationCache: false,
    maskedErrors: false,
    batching: false,
    multipart: false,
    maxRequestBodySize: false,
    logging: false,
  });
}

/** Admission has parsed and validated the document. Rules that plugins add are validated for each operation. */
function useAdmittedDocument(): Plugin<PluginContext> {
  return {
    onParse({ context, setParsedDocument }) {
      setParsedDocument(context[EXECUTED].context.operation.document.document);
    },
    onValidate({ setValidationFn }) {
      setValidationFn(validateFurther);
    },
  };
}

/** Executes the admitted operation, even if plugins pass on another document or other variables. */
function useExecution(parts: OperationParts): Plugin<PluginContext> {
  const execution = new Execution(parts);
  const subscriptions = new Subscriptions(parts);
  return {
    onExecute: ({ setExecuteFn }) =>
      setExecuteFn(({ contextValue }) => execution.execute(executedOf(contextValue))),
    onSubscribe: ({ setSubscribeFn }) =>
      setSubscribeFn(({ contextValue }) => subscriptions.begin(executedOf(contextValue).context)),
  };
}

function executedOf(contextValue: unknown): Executed {
  return (contextValue as PluginContext)[EXECUTED];
}

const OF_SPECIFICATION: ReadonlySet<unknown> = new Set(specifiedRules);

/** Yoga adds the specification's own rules for each operation, and the document has passed them. */
const validateFurther: typeof validate = (schema, document, rules = [], ...more) => {
  const others = rules.filter((rule) => !OF_SPECIFICATION.has(rule));
  return others.length === 0 ? [] : validate(schema, document, others, ...more);
};

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
